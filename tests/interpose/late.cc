/* SPDX-License-Identifier: Apache-2.0
 *
 * Somebody else's library that does what it was given when it is finalised: opened later than the shim, it ends after it.
 */
namespace
{

void (*work)();

__attribute__((destructor)) void at_the_end()
{
    if (work)
        work();
}

} // namespace

extern "C" __attribute__((visibility("default"))) void late_work(void (*what)())
{
    work = what;
}
