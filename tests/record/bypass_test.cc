/* SPDX-License-Identifier: Apache-2.0
 *
 * What the end of a record says of libraries that may have gone past the shim: by copies of one that looks functions up,
 * under the names that the program opened it by. Each case in a process of its own, since names are kept for good.
 */
#include "tests/record/recording.h"
#include "tests/support/run_child.h"

#include <dlfcn.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "interpose/record/bypass.h"
}

namespace
{

const char library[] = "tests/record/libbypass.so";

class Bypass : public Recording
{
protected:
    using Said = std::vector<std::string>;
    /* Of a process that opens such files, and says so of these names. */
    Said said(const std::vector<std::string> &files, const std::vector<std::string> &deep)
    {
        const std::string out = folder / "said";
        const pid_t child = fork();
        if (child == 0) {
            for (const std::string &file : files) {
                std::ofstream(folder / file, std::ios::binary) << std::ifstream(library, std::ios::binary).rdbuf();
                if (!dlopen((folder / file).c_str(), RTLD_NOW | RTLD_LOCAL))
                    _exit(1);
            }
            for (const std::string &name : deep)
                bypass_opened_deep(name.c_str());
            bypass_record();
            std::ofstream to(out);
            for (const std::string &bytes : bytes_of(PTDS_REC_BYPASS)) {
                struct ptds_rec_BYPASS record;
                memcpy(&record, bytes.data(), sizeof record);
                const std::string path = bytes.substr(sizeof record).c_str();
                to << record.what << " " << path.substr(path.rfind('/') + 1) << " " << record.functions << "\n";
            }
            to.close();
            _exit(0);
        }
        int status = -1;
        EXPECT_EQ(child, waitpid(child, &status, 0));
        EXPECT_EQ(0, status);
        Said lines;
        std::ifstream from(out);
        for (std::string line; std::getline(from, line);)
            lines.push_back(line);
        return lines;
    }
    static std::string lookup(const std::string &file)
    {
        return std::to_string(PTDS_BYPASS_DEEPBIND_LOOKUP) + " " + file + " 0";
    }
    ptds::Folder folder;
};

TEST_F(Bypass, ByTheFilesName)
{
    EXPECT_EQ(Said{}, said({"a.so"}, {})) << "libc's own look-up is none";
    EXPECT_EQ(Said{}, said({"a.so"}, {"b.so", "", "a.s", "a.so.1", "a.so/"}));
    EXPECT_EQ(Said{lookup("a.so")}, said({"a.so"}, {"a.so"}));
    EXPECT_EQ(Said{lookup("a.so")}, said({"a.so", "b.so"}, {"$ORIGIN/../somewhere/a.so"}));
    EXPECT_EQ((Said{lookup("a.so"), lookup("b.so")}), said({"a.so", "b.so"}, {"b.so", "a.so"}));
    EXPECT_EQ((Said{lookup("a.so"), lookup("b.so")}), said({"a.so", "b.so"}, {"libbypass.so.7"}))
        << "its own name for itself";
}

TEST_F(Bypass, NotWhoCallsLibcForSomethingElse)
{
    ASSERT_TRUE(dlopen("libm.so.6", RTLD_NOW));
    EXPECT_EQ(Said{}, said({}, {"libm.so.6", "libstdc++.so.6"}));
}

TEST_F(Bypass, SoManyNames)
{
    std::vector<std::string> names;
    for (int i = 0; i < 15; i++)
        names.push_back("other" + std::to_string(i));
    std::vector<std::string> last = names, more = names, again = names;
    last.push_back("a.so");
    EXPECT_EQ(Said{lookup("a.so")}, said({"a.so"}, last));
    more.insert(more.end(), {"other15", "a.so", "other16"});
    EXPECT_EQ(Said{}, said({"a.so"}, more));
    again.insert(again.end(), {"other3", "/x/other14", "other0", "a.so"});
    EXPECT_EQ(Said{lookup("a.so")}, said({"a.so"}, again)) << "the same are one";
    const std::string longest = std::string(60, 'l') + ".so", longer = 'l' + longest;
    EXPECT_EQ(Said{lookup(longest)}, said({longest}, {longest}));
    EXPECT_EQ(Said{}, said({longer}, {longer}));
}

TEST_F(Bypass, ASecondDriver)
{
    EXPECT_EQ(Said{}, said({"libcuda.so.1"}, {}));
    EXPECT_EQ(Said{}, said({"libcuda.so.1", "libcudart.so.12", "libcuda.s"}, {}));
    EXPECT_EQ((Said{std::to_string(PTDS_BYPASS_DRIVER_COPY) + " libcuda.so.550.54 0"}),
              said({"libcuda.so.1", "libcuda.so.550.54"}, {}));
    EXPECT_EQ(0, bypass_in_a_namespace());
}

} // namespace
