/* SPDX-License-Identifier: Apache-2.0
 *
 * The version of libptds; scripts/bazel/defs.bzl sets it for every target.
 */
#ifndef PTDS_VERSION_H
#define PTDS_VERSION_H

#ifndef PTDS_VERSION
#error "build with Bazel, which defines PTDS_VERSION"
#endif

#endif
