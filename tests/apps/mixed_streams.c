// SPDX-License-Identifier: Apache-2.0
//
// mixed_streams [gate-ms 40] [section]: one thread mixes the default stream with blocking streams
// of its own, in every direction, and prints for each section what the buffers hold afterwards and
// a digest of all their bytes. Whatever keeps legacy order (no shim, or PTDS_POLICY=guarded) prints
// the same bytes; under plain per-thread streams, recompiled or remapped, the sections that depend
// on legacy order differ and are marked. Run by scripts/gpu and the policy tests.

#include "mixed.h"

#include <stdio.h>
#include <string.h>

struct outcome {
    struct values values;
    uint64_t digest;
};

static int word(const uint32_t *words, uint64_t *digest)
{
    *digest = app_digest(*digest, words, BYTES);
    return (int)words[0];
}

// The host's own copies first: reading the device back goes through them.
static struct outcome read_back(struct mixed *m)
{
    struct outcome o = {.digest = APP_DIGEST};
    static uint32_t words[WORDS];
    o.values.pinned = word(m->pinned, &o.digest);
    o.values.host = word(m->host, &o.digest);
    CU(cuMemcpyDtoH(words, m->a, BYTES));
    o.values.a = word(words, &o.digest);
    CU(cuMemcpyDtoH(words, m->b, BYTES));
    o.values.b = word(words, &o.digest);
    CUDA_MEMCPY2D copy = mixed_copy_array(m, 0);
    CU(cuMemcpy2D(&copy));
    o.values.array = word(m->host, &o.digest);
    o.values.note = m->note;
    o.digest = app_digest(o.digest, &m->note, sizeof m->note);
    return o;
}

static struct values expected(const struct section *s)
{
    const struct values start = {START_A, START_B, START_PINNED, START_HOST, START_ARRAY, 0};
    struct values v = s->legacy;
    v.a = v.a ? v.a : start.a;
    v.b = v.b ? v.b : start.b;
    v.pinned = v.pinned ? v.pinned : start.pinned;
    v.host = v.host ? v.host : start.host;
    v.array = v.array ? v.array : start.array;
    return v;
}

static int run_section(struct mixed *m, const struct section *s, uint64_t *digest)
{
    mixed_reset(m);
    s->run(m);
    for (unsigned i = 0; i < GATES; i++)
        gate_join(&m->gates[i]);
    CU(cuCtxSynchronize());
    struct outcome o = read_back(m);
    *digest = app_digest(*digest, &o.digest, sizeof o.digest);
    const struct values *v = &o.values;
    struct values want = expected(s);
    int right = s->open || memcmp(v, &want, sizeof want) == 0;
    printf("%s a=%d b=%d pinned=%d host=%d array=%d note=%d %016llx%s\n", s->name, v->a, v->b, v->pinned, v->host, v->array,
           v->note, (unsigned long long)o.digest, right ? "" : " not legacy order");
    return right;
}

int main(int argc, char **argv)
{
    static struct mixed m;
    const struct section *const groups[] = {mixed_into, mixed_from, mixed_chain};
    const char *only = argc > 2 ? argv[2] : NULL;
    uint64_t digest = APP_DIGEST;
    int wrong = 0;
    mixed_setup(&m, app_number(argc, argv, 1, 40));
    double began = app_now_ms();
    for (unsigned g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (const struct section *s = groups[g]; s->name; s++)
            if (!only || strcmp(only, s->name) == 0)
                wrong += !run_section(&m, s, &digest);
    return app_finish(wrong == 0, digest, app_now_ms() - began);
}
