/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace's file and the record's memory where the disk, its limits or the system's memory give no more.
 */
#include "tests/record/faults.h"

extern "C" {
#include "interpose/record/file/store.h"
#include "interpose/record/file/trace_file.h"
}

namespace
{

/* ---- room ---- */

TEST_F(File, RoomIsReservedBeforeItIsMapped)
{
    ASSERT_TRUE(trace_file_open(path_.c_str()));
    EXPECT_STREQ(path_.c_str(), trace_file_path());
    const size_t before = descriptors();
    char *pages = static_cast<char *>(trace_file_map(0, 65536));
    ASSERT_TRUE(pages);
    EXPECT_EQ(Asked{kReserved}, g_asked);
    EXPECT_EQ(65536u, size());
    pages[65535] = 'x';
    EXPECT_EQ('x', ptds::read_file(path_)[65535]);
    EXPECT_TRUE(trace_file_map(65536, 4096));
    EXPECT_EQ(69632u, size());
    g_asked.clear();
    EXPECT_EQ(nullptr, trace_file_map(69633, 4096)) << "there is a gap before it";
    EXPECT_EQ(Asked{}, g_asked);
    EXPECT_EQ(before, descriptors());
    munmap(pages, 65536);
}

TEST_F(File, RoomOnADiskThatReservesNone)
{
    ASSERT_TRUE(trace_file_open(path_.c_str()));
    for (const int error : {EOPNOTSUPP, EINVAL}) {
        g_asked.clear();
        g_errors["fallocate"] = {EINTR, EINTR, error};
        EXPECT_TRUE(trace_file_map(0, 12288));
        EXPECT_EQ((Asked{"fallocate 0 12288", "fallocate 0 12288", "fallocate 0 12288", "pwrite 0 4096", "pwrite 4096 4096",
                         "pwrite 8192 4096"}),
                  g_asked);
        EXPECT_EQ(12288u, size());
    }
    g_asked.clear();
    g_errors["fallocate"] = {EOPNOTSUPP};
    EXPECT_TRUE(trace_file_map(12288, 4096));
    EXPECT_EQ((Asked{"fallocate 12288 4096", "pwrite 12288 4096"}), g_asked);
    EXPECT_EQ(std::string(16384, '\0'), ptds::read_file(path_));
}

TEST_F(File, NoRoom)
{
    ASSERT_TRUE(trace_file_open(path_.c_str()));
    const size_t before = descriptors();
    for (const auto &[call, errors] :
         {std::pair{"fallocate", std::deque<int>{ENOSPC}}, {"fallocate", {EINTR, EIO}}, {"mmap", {ENOMEM}}}) {
        g_errors[call] = errors;
        EXPECT_EQ(nullptr, trace_file_map(0, 4096)) << call;
    }
    for (const int error : {ENOSPC, EINTR}) { /* none of it is taken, and less than all of it */
        g_errors["fallocate"] = {EOPNOTSUPP};
        g_errors["pwrite"] = {0, error};
        g_asked.clear();
        EXPECT_EQ(nullptr, trace_file_map(0, 12288));
        EXPECT_EQ((Asked{"fallocate 0 12288", "pwrite 0 4096", "pwrite 4096 4096"}), g_asked);
    }
    EXPECT_EQ(before, descriptors());
}

/* Beyond its limit a process is killed: up to there and no further. */
TEST_F(File, TheLimitOfAFile)
{
    ASSERT_TRUE(trace_file_open(path_.c_str()));
    g_limit = 8191;
    EXPECT_EQ(nullptr, trace_file_map(0, 8192));
    EXPECT_EQ(Asked{}, g_asked);
    g_limit = 8192;
    EXPECT_TRUE(trace_file_map(0, 8192));
    EXPECT_EQ(nullptr, trace_file_map(8192, 4096));
    EXPECT_TRUE(trace_file_map(4096, 4096));
    g_no_limit = true;
    EXPECT_TRUE(trace_file_map(8192, 4096));
}

/* What the program has closed it may write to meanwhile, its errors for one: none of that comes into the trace. */
TEST_F(File, IsNeverWhatTheProgramHasClosed)
{
    for (const bool few : {false, true})
        apart([this, few] {
            struct rlimit descriptors = {};
            syscall(SYS_getrlimit, RLIMIT_NOFILE, &descriptors);
            descriptors.rlim_cur = few ? 64 : descriptors.rlim_cur; /* there are no high ones */
            setrlimit(RLIMIT_NOFILE, &descriptors);
            finished(path_, 5); /* that is looked at, too */
            const int err = fcntl(2, F_DUPFD_CLOEXEC, 10);
            for (int file = 0; file <= 2; file++)
                close(file);
            EXPECT_TRUE(trace_file_open(path_.c_str()));
            EXPECT_TRUE(trace_file_map(0, 4096));
            EXPECT_GE(g_lowest, few ? 3 : 900);
            EXPECT_STREQ(path_.c_str(), trace_file_path());
            for (int file = 3; file < 1024; file++)
                if (file != err)
                    close(file);
            EXPECT_TRUE(trace_file_map(4096, 4096)) << "what it has closed of ours is opened anew";
            EXPECT_GE(g_lowest, few ? 3 : 900);
            dup2(err, 2);
        });
}

TEST_F(File, IsOpenedAnewByItsName)
{
    ASSERT_TRUE(trace_file_open(path_.c_str()));
    ASSERT_TRUE(trace_file_map(0, 8192));
    EXPECT_FALSE(trace_file_is_truncated(8192));
    EXPECT_TRUE(trace_file_is_truncated(8193));
    rename(path_.c_str(), (folder_ / "moved").c_str());
    EXPECT_EQ(nullptr, trace_file_map(8192, 4096));
    EXPECT_FALSE(trace_file_is_truncated(8193)) << "nobody knows";
    std::ofstream(path_) << std::string(8192, 'x');
    const size_t before = descriptors();
    EXPECT_EQ(nullptr, trace_file_map(8192, 4096)) << "another file";
    EXPECT_FALSE(trace_file_is_truncated(8193));
    EXPECT_EQ(before, descriptors());
    rename((folder_ / "moved").c_str(), path_.c_str());
    EXPECT_TRUE(trace_file_map(8192, 4096));
    ASSERT_EQ(0, truncate(path_.c_str(), 100));
    EXPECT_TRUE(trace_file_is_truncated(101));
    EXPECT_FALSE(trace_file_is_truncated(100));
    EXPECT_EQ(nullptr, trace_file_map(12288, 4096));
    trace_file_after_fork();
    EXPECT_FALSE(trace_file_is_truncated(101)) << "it is the parent's";
    EXPECT_EQ(nullptr, trace_file_path());
}

/* ---- nothing could be kept in it ---- */

TEST_F(File, ThatIsGivenUp)
{
    apart([this] {
        Said said;
        ASSERT_TRUE(trace_file_open(path_.c_str()));
        close(0);
        errno = EMFILE; /* from before */
        ASSERT_TRUE(trace_file_map(0, 4096));
        trace_file_give_up();
        EXPECT_EQ("ptds: PTDS_TRACE: no space for " + path_ + "; recording in memory only\n", said.text());
        EXPECT_EQ(nullptr, trace_file_path());
        EXPECT_EQ(Asked{}, folder_.files()) << "it was made for this";
    });
    apart([this] {
        Said said;
        std::ofstream(path_).close();
        ASSERT_TRUE(trace_file_open(path_.c_str()));
        ASSERT_TRUE(trace_file_map(0, 4096));
        struct rlimit few = {};
        syscall(SYS_getrlimit, RLIMIT_NOFILE, &few);
        few.rlim_cur = 0;
        setrlimit(RLIMIT_NOFILE, &few);
        EXPECT_EQ(nullptr, trace_file_map(0, 4096));
        few.rlim_cur = few.rlim_max;
        setrlimit(RLIMIT_NOFILE, &few);
        trace_file_give_up();
        EXPECT_EQ("ptds: PTDS_TRACE: no descriptor is left for " + path_ + "; recording in memory only\n", said.text());
        EXPECT_EQ("", ptds::read_file(path_)) << "it was there";
        EXPECT_EQ(Asked{"trace"}, folder_.files());
    });
}

/* ---- the store in it ---- */

TEST_F(File, TheStoreGrowsIt)
{
    size_t old = 0;
    ASSERT_TRUE(store_open(path_.c_str(), 64 * PTDS_CHUNK_SIZE, 32 * PTDS_CHUNK_SIZE));
    EXPECT_EQ((Asked{kReserved, "fallocate 65536 1048576"}), g_asked);
    EXPECT_EQ(PTDS_HEADER_SIZE + kExtent, size());
    EXPECT_EQ(uint64_t{64} * PTDS_CHUNK_SIZE, store_header()->limit);
    EXPECT_STREQ(path_.c_str(), store_path());
    for (int i = 0; i < 32; i++) {
        struct ptds_chunk *chunk = store_chunk(PTDS_CHUNK_DEFINITIONS, 0, &old);
        memset(chunk + 1, '0' + i, 8);
    }
    EXPECT_EQ(2u, g_asked.size());
    ASSERT_TRUE(store_chunk(PTDS_CHUNK_DEFINITIONS, 0, &old));
    EXPECT_EQ("fallocate 1114112 1048576", g_asked.back());
    EXPECT_EQ(PTDS_HEADER_SIZE + 2 * kExtent, size());
    const std::string bytes = ptds::read_file(path_);
    for (size_t i = 0; i < 32; i++)
        EXPECT_EQ(std::string(8, char('0' + i)),
                  bytes.substr(PTDS_HEADER_SIZE + i * PTDS_CHUNK_SIZE + sizeof(struct ptds_chunk), 8));
    EXPECT_FALSE(store_is_torn());
    errno = ENOTTY;
    store_flush();
    EXPECT_EQ(ENOTTY, errno);
    ASSERT_EQ(0, truncate(path_.c_str(), off_t(PTDS_HEADER_SIZE + 2 * kExtent - 1)));
    EXPECT_TRUE(store_is_torn());
}

/* Neither a header alone nor none: then it is in memory, and the file is as it was. */
TEST_F(File, TheStoreFindsNoRoom)
{
    const std::deque<int> rows[] = {{ENOSPC}, {0, ENOSPC}};
    for (const std::deque<int> &errors : rows)
        apart([&] {
            Said said;
            g_errors["fallocate"] = errors;
            errno = ENOTTY;
            EXPECT_EQ(1, store_open(path_.c_str(), 96 * PTDS_CHUNK_SIZE, 64 * PTDS_CHUNK_SIZE));
            EXPECT_EQ(ENOTTY, errno);
            EXPECT_EQ("ptds: PTDS_TRACE: no space for " + path_ + "; recording in memory only\n", said.text());
            EXPECT_EQ(Asked{}, folder_.files());
            EXPECT_EQ(nullptr, store_path());
            EXPECT_EQ(uint64_t{64} * PTDS_CHUNK_SIZE, store_header()->limit);
            size_t old = 0, count = 0;
            while (store_chunk(PTDS_CHUNK_CALLS, 1, &old))
                count++;
            EXPECT_EQ(60u, count) << "memory there is";
        });
}

TEST_F(File, TheStoreFindsNoFile)
{
    apart([this] {
        Said said;
        const std::string nowhere = folder_ / "nowhere/trace";
        EXPECT_EQ(1, store_open(nowhere.c_str(), 96 * PTDS_CHUNK_SIZE, 64 * PTDS_CHUNK_SIZE));
        EXPECT_EQ("ptds: PTDS_TRACE: cannot write " + nowhere + ": No such file or directory; recording in memory only\n",
                  said.text());
        EXPECT_EQ(uint64_t{64} * PTDS_CHUNK_SIZE, store_header()->limit);
        EXPECT_EQ(nullptr, store_path());
    });
}

/* Somebody cuts it: 64 kB at a time become memory, as soon as something is written there, and what is left is a file still.
 */
TEST_F(File, IsCut)
{
    static constexpr size_t kPart = 65536, kKept = PTDS_HEADER_SIZE + kExtent + kPart;
    apart([this] {
        size_t old = 0;
        std::vector<char *> chunks;
        ASSERT_TRUE(store_open(path_.c_str(), 64 * PTDS_CHUNK_SIZE, 32 * PTDS_CHUNK_SIZE));
        for (int i = 0; i < 64; i++)
            chunks.push_back(reinterpret_cast<char *>(store_chunk(PTDS_CHUNK_DEFINITIONS, 0, &old)));
        EXPECT_FALSE(store_is_torn());
        ASSERT_EQ(0, truncate(path_.c_str(), off_t(kKept)));
        errno = ENOTTY;
        chunks[34][5] = 'a'; /* the first of a part */
        chunks[63][PTDS_CHUNK_SIZE - 1] = 'b';
        EXPECT_EQ(ENOTTY, errno);
        EXPECT_TRUE(store_is_torn());
        EXPECT_EQ('a', chunks[34][5]);
        EXPECT_EQ('b', chunks[63][PTDS_CHUNK_SIZE - 1]);
        EXPECT_EQ(0, chunks[34][4]);
        EXPECT_EQ(0, chunks[35][PTDS_CHUNK_SIZE - 1]) << "the same part";
        chunks[33][PTDS_CHUNK_SIZE - 1] = 'c', chunks[0][0] = 'd';
        const std::string bytes = ptds::read_file(path_);
        ASSERT_EQ(kKept, bytes.size());
        EXPECT_EQ('c', bytes[kKept - 1]);
        EXPECT_EQ('d', bytes[PTDS_HEADER_SIZE]);
        ASSERT_EQ(0, truncate(path_.c_str(), 0));
        store_header()->magic[0] = 'g'; /* the very first byte, and so of each extent */
        store_header()->clean_end = 1;
        reinterpret_cast<char *>(store_header())[PTDS_HEADER_SIZE - 1] = 'e';
        for (char *chunk : chunks)
            chunk[0] = 'f';
        EXPECT_EQ(1u, store_header()->clean_end);
        EXPECT_EQ('a', chunks[34][5]) << "what had become memory stays";
        EXPECT_EQ(0u, size());
    });
}

TEST_F(File, TheDiskIsFullLater)
{
    apart([this] {
        Said said;
        size_t old = 0;
        ASSERT_TRUE(store_open(path_.c_str(), 96 * PTDS_CHUNK_SIZE, 32 * PTDS_CHUNK_SIZE));
        std::vector<struct ptds_chunk *> all;
        g_errors["fallocate"] = {ENOSPC, ENOSPC, ENOSPC};
        for (int i = 0; i < 32; i++) {
            EXPECT_EQ("", said.text());
            all.push_back(store_chunk(PTDS_CHUNK_CALLS, 1, &old));
        }
        EXPECT_EQ(2u, g_asked.size());
        store_chunk_full(all[4]);
        EXPECT_EQ(all[4], store_chunk(PTDS_CHUNK_CALLS, 1, &old));
        EXPECT_EQ("ptds: no space for more of the trace, or its file is gone; the oldest detail goes first, counts stay "
                  "exact\n",
                  said.text());
        EXPECT_EQ(nullptr, store_chunk(PTDS_CHUNK_CALLS, 1, &old));
        EXPECT_EQ(3u, g_asked.size()) << "the disk is asked once";
        EXPECT_EQ("", said.text()) << "it is said once";
    });
    apart([this] {
        Said said;
        size_t old = 0;
        ASSERT_TRUE(store_open((folder_ / "other").c_str(), 96 * PTDS_CHUNK_SIZE, 32 * PTDS_CHUNK_SIZE));
        g_errors["fallocate"] = {ENOSPC};
        while (store_chunk(PTDS_CHUNK_DEFINITIONS, 0, &old)) {
        }
        EXPECT_EQ("ptds: no space for more of the trace, or its file is gone; detail is dropped, counts stay\n",
                  said.text());
        EXPECT_EQ(nullptr, store_chunk(PTDS_CHUNK_COUNTS, 1, &old));
    });
}

TEST_F(File, NoMemoryEither)
{
    apart([] {
        Said said;
        size_t old = 0;
        ASSERT_TRUE(store_open(nullptr, 0, 64 * PTDS_CHUNK_SIZE));
        g_errors["mmap"] = {ENOMEM, ENOMEM};
        size_t count = 0;
        while (store_chunk(PTDS_CHUNK_CALLS, 1, &old))
            count++;
        EXPECT_EQ(32u, count) << "none is kept for definitions: there is not known to be more";
        EXPECT_EQ("ptds: no space for more of the record; detail is dropped, counts stay\n", said.text());
    });
    for (size_t nth = 0; nth < 4; nth++) { /* two tables, the header, the first extent */
        g_errors["mmap"] = std::deque<int>(nth, 0);
        g_errors["mmap"].push_back(ENOMEM);
        errno = ENOTTY;
        EXPECT_EQ(0, store_open(nullptr, 0, 32 * PTDS_CHUNK_SIZE)) << nth;
        EXPECT_EQ(ENOTTY, errno);
        EXPECT_TRUE(g_errors["mmap"].empty()) << nth;
        store_after_fork();
    }
    EXPECT_EQ(1, store_open(nullptr, 0, 32 * PTDS_CHUNK_SIZE));
}

/* Of a chunk in a file what is cleared are its bytes. */
TEST_F(File, CountsBeginWithZerosThereToo)
{
    size_t old = 0;
    ASSERT_TRUE(store_open(path_.c_str(), 32 * PTDS_CHUNK_SIZE, 32 * PTDS_CHUNK_SIZE));
    struct ptds_chunk *chunk = store_chunk(PTDS_CHUNK_CALLS, 1, &old), *next = store_chunk(PTDS_CHUNK_CALLS, 1, &old);
    memset(chunk + 1, 0xee, PTDS_CHUNK_SIZE - sizeof *chunk);
    memset(next + 1, 0xee, PTDS_CHUNK_SIZE - sizeof *next);
    store_chunk_back(chunk);
    ASSERT_EQ(chunk, store_chunk(PTDS_CHUNK_COUNTS, 1, &old));
    const char *bytes = reinterpret_cast<const char *>(chunk + 1);
    EXPECT_EQ(std::string(PTDS_CHUNK_SIZE - sizeof *chunk, '\0'), std::string(bytes, PTDS_CHUNK_SIZE - sizeof *chunk));
    EXPECT_EQ(PTDS_CHUNK_MAGIC, next->magic);
    EXPECT_EQ('\xee', *reinterpret_cast<const char *>(next + 1));
}

} // namespace
