/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns in the driver, for replay.c. Must stay quick where all of the time is taken, and small in long runs.
 */
#include "analysis/whatif/turns.h"

#include <stdlib.h>

/* A run has about half as many pieces as there may be; beyond those nobody waits. */
enum { PIECE_LEAST_NS = 20000, PIECE_MOST_NS = 1 << 30, PIECES_MOST = 1 << 18 };

void turns_begin(struct turns *turns, uint64_t run_ns)
{
    uint64_t piece = run_ns / (PIECES_MOST / 2);
    *turns = (struct turns){.piece_ns = PIECE_LEAST_NS};
    if (piece > PIECE_LEAST_NS)
        turns->piece_ns = piece < PIECE_MOST_NS ? (uint32_t)piece : PIECE_MOST_NS;
}

static struct piece *piece_at(struct turns *turns, uint64_t at)
{
    while (at < PIECES_MOST && turns->pieces.count <= at && TABLE_ADD(&turns->pieces))
        *TABLE_LAST(&turns->pieces) = (struct piece){0, (uint32_t)turns->pieces.count - 1};
    return at < turns->pieces.count ? &turns->pieces.items[at] : NULL;
}

/* The first piece from `at` on that is not full. */
static uint64_t free_piece(struct turns *turns, uint64_t at)
{
    uint64_t found = at;
    struct piece *piece = piece_at(turns, found);
    while (piece != NULL && piece->taken == turns->piece_ns) {
        found = piece->next > found ? piece->next : found + 1;
        piece = piece_at(turns, found);
    }
    while (at < found && (piece = piece_at(turns, at)) != NULL) { /* the way is shorter the next time */
        uint64_t next = piece->next > at ? piece->next : at + 1;
        piece->next = (uint32_t)(found < PIECES_MOST ? found : PIECES_MOST);
        at = next;
    }
    return found;
}

/* Takes so much from a moment on, in one piece of time or several; returns when it has all. */
static uint64_t take(struct turns *turns, uint64_t from, uint64_t ns)
{
    uint64_t at = from / turns->piece_ns, end = from;
    while (ns != 0) {
        at = free_piece(turns, at);
        struct piece *piece = piece_at(turns, at);
        if (piece == NULL)
            return end + ns;
        uint64_t some = turns->piece_ns - piece->taken < ns ? turns->piece_ns - piece->taken : ns;
        piece->taken += (uint32_t)some;
        ns -= some;
        end = at * turns->piece_ns + piece->taken;
    }
    return end;
}

struct moment turns_take(struct turns *turns, struct moment now, uint64_t ns, uint64_t alone)
{
    uint64_t end = take(turns, now.at, alone), waited = end > now.at + alone ? end - now.at - alone : 0;
    return moment_after(moment_after(now, waited, PART_DRIVER), ns, PART_HOST);
}

void turns_end(struct turns *turns)
{
    free(turns->pieces.items);
}
