/* SPDX-License-Identifier: Apache-2.0
 *
 * A headless browser for tests of pages: Chromium, driven through its debugging pipe, with real key presses and clicks.
 * Everything that a page complains about (exceptions, console errors, refused loads) is kept.
 */
#ifndef PTDS_TESTS_SUPPORT_BROWSER_H
#define PTDS_TESTS_SUPPORT_BROWSER_H

#include <sys/types.h>

#include <string>
#include <vector>

#include <jansson.h>

namespace ptds
{

class Browser
{
public:
    /* The browser's path, or empty: then the test skips, and says what is missing. */
    static std::string Find();

    Browser(int width, int height);
    ~Browser();
    Browser(const Browser &) = delete;

    /* Opens a file and waits until the page says that it is ready. Returns what it says. fragment: what comes after # */
    std::string Open(const std::string &path, const std::string &fragment = "");

    /* Runs a script; its value as JSON text, "undefined" if it has none; what it threw counts as an error of the page. */
    std::string Run(const std::string &script);

    void Key(const std::string &key);
    void Click(double x, double y);
    void Move(double x, double y);
    /* Pressed at the first place, moved, released at the second. */
    void Drag(double x0, double y0, double x1, double y1, bool shift = false);
    void Resize(int width, int height);
    void Dark(bool dark);
    void Print(bool print);

    /* A picture as PNG, of the whole page or of what is in view, among the test's outputs if it keeps any. */
    bool Picture(const std::string &name, bool whole);

    /* "Chrome/123.0" or so; and what the page's JavaScript holds once garbage is collected, arrays included. */
    std::string Version();
    double HeapBytes();

    std::vector<std::string> errors;
    bool alive = false;

private:
    json_t *Call(const std::string &method, json_t *params);
    json_t *Read();
    void Note(json_t *event);
    void Mouse(const char *type, double x, double y, int clicks, bool shift = false);

    pid_t pid_ = -1;
    int in_ = -1, out_ = -1, next_ = 0;
    std::string folder_, session_, buffer_;
};

} // namespace ptds

#endif
