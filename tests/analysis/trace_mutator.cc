// SPDX-License-Identifier: Apache-2.0
//
// Traces, taken apart into chunks and records, changed, and put together again. Called by libFuzzer through
// fuzz_trace_mutate.cc, and by a test with a seed. Must make something of any bytes and never more than there is room for.
#include "tests/analysis/trace_mutator.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/analysis/trace_parts.h"

namespace ptds
{

namespace
{

enum { DAMAGED = 8, TOGETHER = 3, MOST_SPAN = 12, SMALL = 40, MOST_TAIL = 12 };

struct Place {
    Chunk *chunk;
    size_t index;
};

class Trace : public Parts
{
public:
    explicit Trace(unsigned seed) : random_(seed)
    {
    }
    void Change();
    bool TakeFrom(Trace &other);

private:
    uint64_t Below(uint64_t most)
    {
        return most != 0 ? random_() % most : 0;
    }
    bool OneIn(unsigned times)
    {
        return Below(times) == 0;
    }
    bool Any(Place *place);
    bool AnyOfKind(Place *place, uint16_t kind);
    uint64_t Value(uint64_t old, const uint8_t *like, size_t size);
    void ChangeBytes(uint8_t *at, const uint8_t *like, size_t size);
    void ChangeField();
    void ChangeSize();
    void ChangeText(Place place, size_t from);
    void MoveRecords(bool take);
    void NewRecord();
    void ChangeChunk();
    void ChangeHead();
    void ChangeCounts(Chunk *chunk);

    std::minstd_rand random_;
};

bool Trace::Any(Place *place)
{
    for (int tries = 0; tries < 4; tries++) {
        place->chunk = &chunks[Below(chunks.size())];
        place->index = Below(place->chunk->starts.size());
        if (!place->chunk->starts.empty())
            return true;
    }
    return false;
}

/* From somewhere on, the next one. */
bool Trace::AnyOfKind(Place *place, uint16_t kind)
{
    for (int tries = 0; tries < 2 && Any(place); tries++)
        for (; place->index < place->chunk->starts.size(); place->index++)
            if (place->chunk->At(place->index).kind == kind)
                return true;
    return false;
}

uint64_t Trace::Value(uint64_t old, const uint8_t *like, size_t size)
{
    uint64_t other = 0;
    memcpy(&other, like, size);
    switch (Below(9)) {
    case 0:
    case 1:
    case 2: return other;
    case 3: return Below(SMALL);
    case 4: return old + Below(9) - 4;
    case 5: return old ^ UINT64_C(1) << Below(size * 8);
    case 6: return UINT64_C(0) - Below(3);
    case 7: return other + (Below(2) ? 1 : 0 - UINT64_C(1)) * (UINT64_C(1) << Below(size * 4));
    default: return UINT64_C(1) << Below(size * 8);
    }
}

/* `like`: the same of another record; as many bytes of it. */
void Trace::ChangeBytes(uint8_t *at, const uint8_t *like, size_t size)
{
    if (size > 8) {
        at[Below(size)] = static_cast<uint8_t>(random_());
        return;
    }
    uint64_t old = 0;
    memcpy(&old, at, size);
    old = Value(old, like, size);
    memcpy(at, &old, size);
}

/* What settings, names of kernels and regions are made of. */
void Trace::ChangeText(Place place, size_t from)
{
    static const char *const words[] = {"PTDS_POLICY=",
                                        "guarded",
                                        "per-thread",
                                        "observe",
                                        "stream",
                                        "none",
                                        "PTDS_LANES=8",
                                        "_Z3fooPKfPfi",
                                        "Pv",
                                        "cuLaunchKernel",
                                        "cuMemcpyDtoH_v2",
                                        "step",
                                        "@",
                                        "PTDS_DEVICE_TIMES=cupti",
                                        "%",
                                        "\xff",
                                        "clock",
                                        "=",
                                        "1",
                                        "/"};
    const ptds_record record = place.chunk->At(place.index);
    uint8_t *text = &place.chunk->records[place.chunk->starts[place.index]] + from;
    const char *word = words[Below(sizeof words / sizeof *words)];
    const size_t room = record.size - from, at = Below(room);
    if (OneIn(2))
        memcpy(text + at, word, std::min(strlen(word), room - at));
    else
        text[at] = static_cast<uint8_t>(OneIn(2) ? random_() : text[at] ^ 1u << Below(8));
}

/* One field, or one item of the tail, among others by what stands there in another record of the kind. */
void Trace::ChangeField()
{
    Place place, other;
    if (!Any(&place))
        return;
    const ptds_record record = place.chunk->At(place.index);
    const Shape *shape = ShapeOf(record.kind);
    if (!AnyOfKind(&other, record.kind))
        other = place;
    size_t at = sizeof record, size = 8, fields = 0;
    const size_t like_size = other.chunk->At(other.index).size;
    if (shape != nullptr) {
        const size_t tail_at = shape->Fixed();
        const bool tail = shape->tail != 0 && record.size > tail_at && OneIn(3);
        if (tail && shape->tail == 1)
            return ChangeText(place, tail_at);
        size = shape->tail;
        at = tail_at + (tail ? Below((record.size - tail_at) / size) * size : 0);
        if (!tail) {
            fields = Below(shape->sizes.size());
            at = sizeof record;
            for (size_t i = 0; i < fields; i++)
                at += shape->sizes[i];
            size = shape->sizes[fields];
        }
    }
    if (at + size > record.size || (shape == nullptr && record.size == sizeof record))
        return;
    uint8_t *bytes = &place.chunk->records[place.chunk->starts[place.index]] + at;
    const uint8_t *like = &other.chunk->records[other.chunk->starts[other.index]] + at;
    ChangeBytes(bytes, at + size <= like_size ? like : bytes, size);
}

/* A longer or shorter tail. */
void Trace::ChangeSize()
{
    Place place;
    if (!Any(&place))
        return;
    ptds_record record = place.chunk->At(place.index);
    const size_t start = place.chunk->starts[place.index], end = start + record.size;
    Bytes &records = place.chunk->records;
    if (OneIn(2) && record.size > sizeof record) {
        records.erase(records.begin() + end - 8, records.begin() + end);
        record.size = static_cast<uint16_t>(record.size - 8);
    } else if (record.size < 4096) {
        uint8_t word[8] = {};
        if (record.size >= sizeof record + sizeof word && OneIn(2))
            memcpy(word, &records[end - 8], sizeof word);
        records.insert(records.begin() + end, word, word + 8);
        record.size = static_cast<uint16_t>(record.size + 8);
    }
    memcpy(&records[start], &record, sizeof record);
    place.chunk->Find();
}

/* Some in a row, to another place: with `take`, from theirs. */
void Trace::MoveRecords(bool take)
{
    Place from, to;
    if (!Any(&from) || !Any(&to))
        return;
    const std::vector<uint32_t> &starts = from.chunk->starts;
    const size_t last = std::min<size_t>(from.index + 1 + Below(MOST_SPAN), starts.size());
    const size_t begin = starts[from.index],
                 behind = last < starts.size() ? starts[last] : starts.back() + from.chunk->At(starts.size() - 1).size,
                 end = std::min(behind, from.chunk->records.size()); /* the last one may say that it is larger */
    const Bytes some(from.chunk->records.begin() + begin, from.chunk->records.begin() + end);
    if (take) {
        from.chunk->records.erase(from.chunk->records.begin() + begin, from.chunk->records.begin() + end);
        from.chunk->Find();
        if (OneIn(2))
            return;
    }
    if (to.index < to.chunk->starts.size())
        to.chunk->records.insert(to.chunk->records.begin() + to.chunk->starts[to.index], some.begin(), some.end());
    to.chunk->Find();
}

/* Of any kind, with what another of the kind says if there is one. */
void Trace::NewRecord()
{
    const Shape &shape = Shapes()[Below(Shapes().size())];
    Place to, like;
    if (!Any(&to))
        return;
    Bytes made((shape.Fixed() + shape.tail * Below(MOST_TAIL) + 7) / 8 * 8);
    if (AnyOfKind(&like, shape.kind)) {
        const uint8_t *bytes = &like.chunk->records[like.chunk->starts[like.index]];
        made.assign(bytes, bytes + like.chunk->At(like.index).size);
    } else {
        for (size_t at = sizeof(ptds_record); at < made.size(); at += 4)
            made[at] = static_cast<uint8_t>(Below(6));
    }
    const ptds_record record = {shape.kind, static_cast<uint16_t>(made.size()), 0};
    memcpy(made.data(), &record, sizeof record);
    to.chunk->records.insert(to.chunk->records.begin() + to.chunk->starts[to.index], made.begin(), made.end());
    to.chunk->Find();
}

void Trace::ChangeCounts(Chunk *chunk)
{
    if (chunk->records.size() >= 8) {
        uint8_t *at = &chunk->records[Below(chunk->records.size() / 8) * 8];
        ChangeBytes(at, &chunk->records[Below(chunk->records.size() / 8) * 8], 8);
    }
}

void Trace::ChangeChunk()
{
    Chunk *chunk = &chunks[Below(chunks.size())];
    const Chunk &other = chunks[Below(chunks.size())];
    switch (Below(8)) {
    case 0:
        if (chunks.size() < MOST_CHUNKS)
            chunks.push_back(*chunk);
        break;
    case 1:
        if (chunks.size() > 1)
            chunks.erase(chunks.begin() + (chunk - chunks.data()));
        break;
    case 2: std::swap(*chunk, chunks[Below(chunks.size())]); break;
    case 3: ChangeCounts(chunk); break;
    default: { /* magic and size are for damage */
        static const size_t fields[][2] = {{offsetof(ptds_chunk, kind), 4},     {offsetof(ptds_chunk, thread), 4},
                                           {offsetof(ptds_chunk, thread), 4},   {offsetof(ptds_chunk, sequence), 8},
                                           {offsetof(ptds_chunk, lost), 8},     {offsetof(ptds_chunk, ordinal), 8},
                                           {offsetof(ptds_chunk, defaults), 4}, {offsetof(ptds_chunk, now), 4}};
        const size_t *field = fields[Below(8)];
        ChangeBytes(reinterpret_cast<uint8_t *>(&chunk->head) + field[0],
                    reinterpret_cast<const uint8_t *>(&other.head) + field[0], field[1]);
        chunk->Find();
    }
    }
}

void Trace::ChangeHead()
{
    static const size_t fields[][2] = {
        {offsetof(ptds_trace_header, call_size), 4}, {offsetof(ptds_trace_header, rank), 4},
        {offsetof(ptds_trace_header, ranks), 4},     {offsetof(ptds_trace_header, clock), 4},
        {offsetof(ptds_trace_header, clean_end), 4}, {offsetof(ptds_trace_header, chunks), 8},
        {offsetof(ptds_trace_header, recycled), 8},  {offsetof(ptds_trace_header, refused), 8},
        {offsetof(ptds_trace_header, limit), 8},     {offsetof(ptds_trace_header, uncounted), 8}};
    const size_t *field = fields[Below(sizeof fields / sizeof *fields)];
    uint8_t *at = reinterpret_cast<uint8_t *>(&header) + field[0];
    ChangeBytes(at, at, field[1]);
}

void Trace::Change()
{
    const uint64_t what = Below(20);
    if (what < 11)
        ChangeField();
    else if (what < 12)
        ChangeSize();
    else if (what < 16)
        MoveRecords(what < 14);
    else if (what < 18)
        NewRecord();
    else if (what < 19)
        ChangeChunk();
    else
        ChangeHead();
}

bool Trace::TakeFrom(Trace &other)
{
    Place from, to;
    if (OneIn(3) && chunks.size() < MOST_CHUNKS) {
        chunks.push_back(other.chunks[Below(other.chunks.size())]);
        return true;
    }
    for (int tries = 0; tries < 8; tries++) {
        if (!other.Any(&from) || !Any(&to) || from.chunk->head.kind != to.chunk->head.kind)
            continue;
        const std::vector<uint32_t> &starts = from.chunk->starts;
        const size_t last = std::min<size_t>(from.index + 1 + Below(4 * MOST_SPAN), starts.size() - 1);
        to.chunk->records.insert(to.chunk->records.begin() + to.chunk->starts[to.index],
                                 from.chunk->records.begin() + starts[from.index],
                                 from.chunk->records.begin() + starts[std::max(last, from.index)]);
        to.chunk->Find();
        return true;
    }
    return false;
}

} // namespace

size_t MutateTrace(uint8_t *bytes, size_t size, size_t room, unsigned seed, Damage damage)
{
    Trace trace(seed);
    std::minstd_rand random(seed ^ 0x5bd1e995);
    if (random() % DAMAGED == 0 || !trace.Read(bytes, size))
        return damage(bytes, size, room);
    for (unsigned times = 1 + random() % TOGETHER; times != 0; times--)
        trace.Change();
    const size_t written = trace.Write(bytes, room);
    return written != 0 ? written : damage(bytes, size, room);
}

size_t CrossTraces(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size, uint8_t *out, size_t room,
                   unsigned seed)
{
    Trace into(seed), from(seed);
    return into.Read(one, one_size) && from.Read(two, two_size) && into.TakeFrom(from) ? into.Write(out, room) : 0;
}

} // namespace ptds
