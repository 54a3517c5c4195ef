/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes protobuf messages apart for tests, and Perfetto's compressed packets: independent of the writer under test, and
 * strict.
 */
#ifndef PTDS_TESTS_ANALYSIS_WIRE_H
#define PTDS_TESTS_ANALYSIS_WIRE_H

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <zlib.h>

namespace ptds
{

struct WireField {
    uint32_t number;
    uint64_t value;    /* of numbers */
    std::string bytes; /* of texts and messages */
};

class Wire
{
public:
    explicit Wire(const std::string &bytes) : bytes_(bytes)
    {
        while (at_ < bytes_.size())
            fields.push_back(Next());
    }

    std::vector<const WireField *> All(uint32_t number) const
    {
        std::vector<const WireField *> found;
        for (const WireField &field : fields)
            if (field.number == number)
                found.push_back(&field);
        return found;
    }
    bool Has(uint32_t number) const
    {
        return !All(number).empty();
    }
    /* Of the only field with this number; 0 and "" if there is none. */
    uint64_t Value(uint32_t number) const
    {
        return Has(number) ? All(number)[0]->value : 0;
    }
    std::string Text(uint32_t number) const
    {
        return Has(number) ? All(number)[0]->bytes : "";
    }
    Wire Message(uint32_t number) const
    {
        return Wire(Text(number));
    }

    std::vector<WireField> fields;

private:
    uint64_t Varint()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (at_ >= bytes_.size())
                throw std::runtime_error("a varint without an end");
            unsigned char byte = static_cast<unsigned char>(bytes_[at_++]);
            value |= static_cast<uint64_t>(byte & 127) << shift;
            if (byte < 128)
                return value;
        }
        throw std::runtime_error("a varint of more than ten bytes");
    }

    void Need(uint64_t size) const
    {
        if (size > bytes_.size() - at_)
            throw std::runtime_error("a field beyond the end of its message");
    }

    WireField Next()
    {
        uint64_t key = Varint();
        WireField field = {static_cast<uint32_t>(key >> 3), 0, ""};
        if ((key & 7) == 0) {
            field.value = Varint();
        } else if ((key & 7) == 1) {
            Need(8);
            memcpy(&field.value, &bytes_[at_], 8);
            at_ += 8;
        } else if ((key & 7) == 2) {
            uint64_t size = Varint();
            Need(size);
            field.bytes = bytes_.substr(at_, size);
            at_ += size;
        } else {
            throw std::runtime_error("wire type " + std::to_string(key & 7));
        }
        return field;
    }

    std::string bytes_;
    size_t at_ = 0;
};

/* What the packets of a Perfetto file hold, one after the other: again a trace, with nothing compressed. Packets of a file
 * of ours are blocks and nothing else. */
inline std::vector<std::string> PerfettoBlocks(const std::string &file)
{
    enum { PACKET = 1, COMPRESSED = 50, MOST = 4 << 20 };
    std::vector<std::string> blocks;
    Wire whole(file);
    for (const WireField &packet : whole.fields) {
        Wire block(packet.bytes);
        if (packet.number != PACKET || block.fields.size() != 1 || block.fields[0].number != COMPRESSED)
            throw std::runtime_error("a packet that is no block");
        const std::string &bytes = block.fields[0].bytes;
        std::string plain(MOST, 0);
        uLongf size = MOST;
        if (uncompress(reinterpret_cast<Bytef *>(&plain[0]), &size, reinterpret_cast<const Bytef *>(bytes.data()),
                       bytes.size()) != Z_OK)
            throw std::runtime_error("a block that is not compressed as zlib does");
        plain.resize(size);
        blocks.push_back(plain);
    }
    return blocks;
}

} // namespace ptds

#endif
