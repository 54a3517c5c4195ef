/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's own <string.h> gives what libc's gives: random texts of few letters, every short length, overlaps, and lengths
 * on both sides of where copying changes its way.
 */
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <type_traits>

namespace ptds
{
namespace
{

int sign(int number)
{
    return (number > 0) - (number < 0);
}

template <class F> F libcs(const char *name, F own)
{
    auto found = reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
    EXPECT_TRUE(found) << name;
    EXPECT_NE(reinterpret_cast<void *>(found), reinterpret_cast<void *>(own)) << name << " is libc's";
    return found;
}

#define BOTH(type, name) \
    static const std::decay_t<type> own_##name = name; \
    static const std::decay_t<type> libc_##name = libcs(#name, own_##name)

using Find = const void *(*)(const void *, int, size_t);
using FindText = const char *(*)(const char *, int);
using Texts = const char *(*)(const char *, const char *);
using Span = size_t (*)(const char *, const char *);

std::mt19937 generator(1);

unsigned any(unsigned below)
{
    return generator() % below;
}

std::string text(unsigned most)
{
    std::string made(any(most), 'a');
    for (char &letter : made)
        letter = static_cast<char>("abc\xff"[any(4)]);
    return made;
}

TEST(OwnStrings, SearchesFindWhatLibcsFind)
{
    BOTH(Find, memchr);
    BOTH(FindText, strchr);
    BOTH(FindText, strrchr);
    BOTH(Texts, strstr);
    BOTH(Texts, strpbrk);
    BOTH(Span, strspn);
    BOTH(Span, strcspn);
    BOTH(size_t(*)(const char *), strlen);
    BOTH(size_t(*)(const char *, size_t), strnlen);
    using Memmem = void *(*)(const void *, size_t, const void *, size_t);
    BOTH(Memmem, memmem);
    for (int i = 0; i < 20000; i++) {
        std::string in = text(40), of = text(4);
        const char *t = in.c_str(), *w = of.c_str();
        int letter = static_cast<unsigned char>("abcd\xff\0"[any(6)]);
        unsigned size = any(41);
        ASSERT_EQ(own_memchr(t, letter, in.size()), libc_memchr(t, letter, in.size()));
        ASSERT_EQ(own_strchr(t, letter), libc_strchr(t, letter));
        ASSERT_EQ(own_strrchr(t, letter), libc_strrchr(t, letter));
        ASSERT_EQ(own_strstr(t, w), libc_strstr(t, w));
        ASSERT_EQ(own_memmem(t, in.size(), w, of.size()), libc_memmem(t, in.size(), w, of.size()));
        ASSERT_EQ(own_strpbrk(t, w), libc_strpbrk(t, w));
        ASSERT_EQ(own_strspn(t, w), libc_strspn(t, w));
        ASSERT_EQ(own_strcspn(t, w), libc_strcspn(t, w));
        ASSERT_EQ(own_strlen(t), libc_strlen(t));
        ASSERT_EQ(own_strnlen(t, size), libc_strnlen(t, size));
    }
}

TEST(OwnStrings, ComparisonsHaveTheSignOfLibcs)
{
    BOTH(int (*)(const char *, const char *), strcmp);
    BOTH(int (*)(const char *, const char *, size_t), strncmp);
    BOTH(int (*)(const void *, const void *, size_t), memcmp);
    for (int i = 0; i < 20000; i++) {
        std::string a = text(30), b = any(2) ? a + text(3) : text(30);
        size_t size = any(30), both = std::min(a.size(), b.size());
        ASSERT_EQ(sign(own_strcmp(a.c_str(), b.c_str())), sign(libc_strcmp(a.c_str(), b.c_str())));
        ASSERT_EQ(sign(own_strncmp(a.c_str(), b.c_str(), size)), sign(libc_strncmp(a.c_str(), b.c_str(), size)));
        ASSERT_EQ(sign(own_memcmp(a.data(), b.data(), both)), sign(libc_memcmp(a.data(), b.data(), both)));
    }
}

TEST(OwnStrings, CopiesAndFillsLeaveTheBytesOfLibcs)
{
    BOTH(void *(*)(void *, const void *, size_t), memmove);
    BOTH(void *(*)(void *, const void *, size_t), memcpy);
    BOTH(void *(*)(void *, int, size_t), memset);
    for (int i = 0; i < 20000; i++) {
        std::string one(1200, ' ');
        for (char &letter : one)
            letter = static_cast<char>(any(256));
        std::string other = one;
        size_t size = any(any(2) ? 40 : 500), from = any(500), to = any(2) ? from + any(20) : any(500);
        ASSERT_EQ(own_memmove(&one[to], &one[from], size), &one[to]);
        libc_memmove(&other[to], &other[from], size);
        ASSERT_TRUE(one == other) << size << " bytes from " << from << " to " << to;
        own_memcpy(&one[700], &one[from % 200], size);
        libc_memcpy(&other[700], &other[from % 200], size);
        ASSERT_TRUE(one == other) << size;
        own_memset(&one[to], 0x1a5, size);
        libc_memset(&other[to], 0x1a5, size);
        ASSERT_TRUE(one == other) << size;
    }
}

TEST(OwnStrings, TextsAreJoinedAndCutAsByLibc)
{
    BOTH(char *(*)(char *, const char *), strcat);
    BOTH(char *(*)(char *, const char *, size_t), strncpy);
    for (int i = 0; i < 2000; i++) {
        std::string with = text(30);
        char one[100] = "begins ", other[100] = "begins ";
        own_strcat(one, with.c_str());
        libc_strcat(other, with.c_str());
        ASSERT_EQ(std::string(one, 100), std::string(other, 100));
        own_strncpy(one, with.c_str(), 20);
        libc_strncpy(other, with.c_str(), 20);
        ASSERT_EQ(std::string(one, 100), std::string(other, 100));
    }
}

} // namespace
} // namespace ptds
