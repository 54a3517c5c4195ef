/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries put numbers where a pointer may be: a factor by value, an address of the host's, a distance. Called by launches
 * whose words lead to no memory that is known. Must never call an address of the device a number: in doubt it is one.
 */
#include "interpose/footprint/launches/numbers.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/pageable.h"

/* Addresses of devices, measured up to Hopper and documented for Blackwell. */
enum { ADDRESS_BITS = 49 };
static const uint64_t reach = UINT64_C(1) << 32;

static int are_within(struct address_span span, unsigned bits)
{
    return !span.numbers || !((span.low + span.numbers - 1) >> bits);
}

uint64_t numbers_size(uint64_t word)
{
    const struct address_spans spans = addresses_spans();
    uint64_t size = word >> 63 ? -word : word, address = word & ((UINT64_C(1) << ADDRESS_BITS) - 1);
    if (size < reach)
        return size;
    if (are_within(spans.at[0], ADDRESS_BITS) && are_within(spans.at[1], ADDRESS_BITS) && address < reach)
        return address;
    return UINT64_MAX;
}

int numbers_are_nowhere(uint64_t sizes)
{
    const struct address_spans spans = addresses_spans();
    for (unsigned i = 0; i < ADDRESS_SPANS; i++) {
        if (spans.at[i].numbers && (sizes > UINT64_MAX - reach || spans.at[i].low < sizes + reach))
            return 0;
    }
    return !sizes || !pageable_is_read();
}

/* The system reads the new mask of signals before it refuses what is to be done with it. */
static int refuses(uint64_t address, int why)
{
    int saved = errno;
    int is = syscall(SYS_rt_sigprocmask, ~0, address & ~UINT64_C(7), NULL, 8) == -1 && errno == why;
    errno = saved;
    return is;
}

/* Whether this system reads the mask before it refuses: with an address where no program has memory, the error is EFAULT.
 * Asked once. */
static int looks_first(void)
{
    static uint32_t known; /* 1 no, 2 yes */
    uint32_t now = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!now)
        __atomic_store_n(&known, now = refuses(8, EFAULT) ? 2 : 1, __ATOMIC_RELAXED);
    return now == 2;
}

/* Addresses of devices are mapped in the process, too, but the system can't read there. */
int numbers_are_host(uint64_t word)
{
    return !pageable_is_read() && looks_first() && refuses(word, EINVAL);
}

int numbers_may_lead(uint64_t word)
{
    const struct address_spans spans = addresses_spans();
    for (unsigned shift = 0; shift < 32; shift++) {
        if (address_spans_have(spans, word << shift) || address_spans_have(spans, word >> shift))
            return 1;
    }
    return 0;
}
