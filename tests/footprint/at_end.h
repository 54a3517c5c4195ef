/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes behind which there is no memory: who reads past them faults.
 */
#ifndef PTDS_TESTS_FOOTPRINT_AT_END_H
#define PTDS_TESTS_FOOTPRINT_AT_END_H

#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace
{

class AtEnd
{
public:
    /* They begin at a multiple of `alignment`, so that as many bytes less one may lie behind them. */
    explicit AtEnd(const std::string &bytes, size_t alignment = 1) : size_(bytes.size())
    {
        const size_t page = 4096;
        room_ = (size_ + page - 1) / page * page + page;
        pages_ = static_cast<char *>(mmap(nullptr, room_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        begin_ = pages_ + room_ - page - (size_ + alignment - 1) / alignment * alignment;
        memcpy(begin_, bytes.data(), size_);
        mprotect(pages_ + room_ - page, page, PROT_NONE);
    }
    ~AtEnd()
    {
        munmap(pages_, room_);
    }
    AtEnd(const AtEnd &) = delete;
    AtEnd &operator=(const AtEnd &) = delete;
    const char *text() const
    {
        return begin_;
    }
    const uint8_t *data() const
    {
        return reinterpret_cast<const uint8_t *>(begin_);
    }
    size_t size() const
    {
        return size_;
    }

private:
    size_t size_, room_;
    char *pages_, *begin_;
};

} // namespace

#endif
