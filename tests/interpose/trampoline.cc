/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports names of the driver's and is none: what frameworks bring to load the driver lazily.
 */
extern "C" {
__attribute__((visibility("default"))) int cuInit(unsigned);
__attribute__((visibility("default"))) int cuLaunchKernel(void);
__attribute__((visibility("default"))) int cuMemcpyHtoD_v2(void);
}

int cuInit(unsigned)
{
    return 42;
}

int cuLaunchKernel(void)
{
    return 42;
}

int cuMemcpyHtoD_v2(void)
{
    return 42;
}
