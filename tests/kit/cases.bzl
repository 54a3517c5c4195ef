# SPDX-License-Identifier: Apache-2.0
"""One test a case, so that a failing case has a name."""

def kit_tests(expected):
    for path in expected:
        case = path.split("/")[-1][:-len(".txt")]
        native.sh_test(
            name = case + "_test",
            size = "small",
            srcs = ["kit_test.sh"],
            args = [case],
            data = [
                ":dist_files",
                "//analysis:ptds",
                "//interpose:libptds.so",
                "//tests/device:dist_files",
                "//tests/sim:libcuda.so.1",
            ],
        )
