/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens libraries with RTLD_DEEPBIND and prints, by library, where what they refer to and what they find leads.
 *
 *     deep_child STEP...     one after the other, each a word and, after a colon, a file:
 *         now lazy           opened with RTLD_DEEPBIND and RTLD_NOW or RTLD_LAZY; then asked
 *         plain              opened without RTLD_DEEPBIND; then asked
 *         open               opened with RTLD_DEEPBIND, not asked
 *         inner innerdeep    opened by the library that was asked last, without and with RTLD_DEEPBIND
 *         race               several files with commas between, which four threads open, ask and close again and again
 *         close              the one that was asked last
 *         self               no file: the program itself
 */
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_driver/fake_driver.h"

namespace
{

std::string file_of(const std::string &path)
{
    return path.substr(path.find_last_of('/') + 1);
}

std::string home(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? file_of(info.dli_fname) : "nothing";
}

template <class F> F *function(void *library, const char *name)
{
    return reinterpret_cast<F *>(dlsym(library, name));
}

/* Of the library's mappings, neighbours with the same rights as one. */
std::string rights(const std::string &file)
{
    std::ifstream maps("/proc/self/maps");
    std::string line, text, last;
    while (std::getline(maps, line)) {
        std::istringstream words(line);
        std::string range, right;
        words >> range >> right;
        if (file_of(line) == file && right != last)
            text += " " + (last = right);
    }
    return text;
}

void launch(void *library)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto take = driver ? function<decltype(fake_log_take)>(driver, "fake_log_take") : nullptr;
    static fake_entry entries[1024];
    int result = function<int()>(library, "deep_launch")();
    for (size_t i = 0, count = take ? take(entries, 1024) : 0; i < count; i++) {
        if (entries[i].streams)
            printf("launch %d: %s on %p\n", result, entries[i].symbol, static_cast<void *>(entries[i].stream[0]));
    }
}

void ask(void *library, const std::string &file)
{
    auto find = function<const void *(const char *)>(library, "deep_find");
    auto find_version = function<const void *(const char *, const char *)>(library, "deep_find_version");
    auto address = function<const void *(const char *)>(library, "deep_address");
    auto early = function<const void *()>(library, "deep_early");
    if (!find || !find_version || !address || !early)
        return;
    printf("found by dlsym: %s\n", home(find("cuLaunchKernel")).c_str());
    printf("found by dlvsym: %s\n", home(find_version("cuLaunchKernel", "FAKE_DRIVER")).c_str());
    printf("found early: %s\n", home(early()).c_str());
    for (const char *name : {"dlsym", "dlvsym", "dlopen", "dladdr", "cuLaunchKernel", "cuLaunchKernel_ptsz"})
        printf("%s: %s\n", name, home(address(name)).c_str());
    launch(library);
    printf("rights:%s\n", rights(file).c_str());
}

void *opened(const std::string &word, const std::string &file, void *asked)
{
    int deep = word == "plain" || word == "inner" ? 0 : RTLD_DEEPBIND;
    int when = word == "lazy" ? RTLD_LAZY : RTLD_NOW;
    auto inner = word.rfind("inner", 0) == 0 ? function<void *(const char *, int)>(asked, "deep_open") : dlopen;
    dlerror();
    errno = 77;
    void *library = inner(file.c_str(), when | deep);
    int error = errno;
    const char *words = dlerror();
    printf("%s %s: %s errno %d\n", word.c_str(), file_of(file).c_str(),
           words     ? words
           : library ? "yes"
                     : "no words",
           error);
    return library;
}

/* How often, of all, a look-up led past the shim. */
int race(const std::string &list)
{
    std::vector<std::string> files;
    std::istringstream words(list);
    for (std::string file; std::getline(words, file, ',');)
        files.push_back(file);
    std::atomic<int> past{0}, waiting{4};
    std::vector<std::thread> all;
    for (size_t i = 0; i < 4; i++) {
        all.emplace_back([&, i] {
            waiting--;
            while (waiting > 0)
                std::this_thread::yield();
            for (size_t k = 0; k < 300; k++) {
                void *library = dlopen(files[(k + i) % files.size()].c_str(), RTLD_NOW | RTLD_DEEPBIND);
                auto find = function<const void *(const char *)>(library, "deep_find");
                past += home(find("cuLaunchKernel")) != "libptds.so";
                dlclose(library);
            }
        });
    }
    for (std::thread &thread : all)
        thread.join();
    return past;
}

} // namespace

int main(int argc, char **argv)
{
    void *asked = nullptr;
    for (int i = 1; i < argc; i++) {
        std::string step = argv[i], word = step.substr(0, step.find(':')), file = step.substr(step.find(':') + 1);
        if (word == "race") {
            printf("past the shim: %d\n", race(file));
        } else if (word == "self") {
            void *self = dlopen(nullptr, RTLD_NOW | RTLD_DEEPBIND);
            printf("the program itself: %s\n", self && self == dlopen(nullptr, RTLD_NOW) ? "yes" : "no");
        } else if (word == "close") {
            printf("closed: %d\n", dlclose(asked));
        } else {
            void *library = opened(word, file, asked);
            if (library && word != "open")
                ask(asked = library, file_of(file));
        }
    }
    return 0;
}
