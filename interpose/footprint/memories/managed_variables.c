/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the driver whether variables of modules are managed. Called once a variable, and by launches that follow pointers in
 * variables while the answer is open. Must not ask the driver anything while a capture is open.
 */
#include "interpose/footprint/memories/managed_variables.h"

#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/addresses.h"
#include "interpose/state/capture.h"

static uint32_t variables_added; /* grows with each that is mapped */
static struct lock lock;

uint8_t managed_variables_ask(uint64_t address)
{
    unsigned managed = 0;
    if (capture_any())
        return 1 | MEMORY_UNASKED;
    int is_said = driver.cuPointerGetAttribute &&
                  ASK(driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address)) == CUDA_SUCCESS;
    return !is_said || managed;
}

void managed_variables_add(struct memory *variables, uint8_t answer)
{
    lock_take(&lock);
    variables_added++;
    variables->host |= answer;
    lock_drop(&lock);
}

/* Asks about each variable, by its address. A variable that comes meanwhile is asked about the next time. */
static __attribute__((noinline)) void ask_again(struct memory *variables)
{
    uint32_t before = __atomic_load_n(&variables_added, __ATOMIC_ACQUIRE);
    uint8_t host = 0;
    struct memory_range range = addresses_last_of(variables, UINT64_MAX);
    for (; range.memory; range = addresses_last_of(variables, range.begin - 1))
        host |= managed_variables_ask(range.begin);
    lock_take(&lock);
    if (variables_added == before)
        variables->host = (uint8_t)((variables->host & ~(1 | MEMORY_UNASKED)) | host);
    lock_drop(&lock);
}

int managed_variables_are_hosts(struct memory *variables)
{
    if (variables->host & MEMORY_UNASKED && !capture_any())
        ask_again(variables);
    return variables->host != 0;
}

void managed_variables_after_fork(void)
{
    lock.held = 0;
}
