// SPDX-License-Identifier: Apache-2.0
//
// The debugging pipe: JSON messages ended by a zero byte, to the browser's descriptor 3, from its 4. One page, one session.
#include "tests/support/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace ptds
{
namespace
{

const int answer_ms = 120000;

std::string Text(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != nullptr ? text : "";
}

std::string Decode(const std::string &text)
{
    std::string out;
    unsigned bits = 0, value = 0;
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (char one : text) {
        size_t digit = digits.find(one);
        if (digit == std::string::npos)
            break;
        value = value << 6 | static_cast<unsigned>(digit);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out += static_cast<char>(value >> bits & 255);
        }
    }
    return out;
}

} // namespace

std::string Browser::Find()
{
    for (const char *path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"})
        if (access(path, X_OK) == 0)
            return path;
    return "";
}

Browser::Browser(int width, int height)
{
    int to[2], from[2];
    std::string path = Find();
    const char *scratch = getenv("TEST_TMPDIR");
    folder_ = std::string(scratch != nullptr ? scratch : "/tmp") + "/browser-XXXXXX";
    if (path.empty() || mkdtemp(&folder_[0]) == nullptr || pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return;
    std::string home = "--user-data-dir=" + folder_;
    std::string size = "--window-size=" + std::to_string(width) + "," + std::to_string(height);
    pid_ = fork();
    if (pid_ == 0) {
        int in = fcntl(to[0], F_DUPFD, 10), out = fcntl(from[1], F_DUPFD, 10), log = open("/dev/null", O_WRONLY);
        dup2(in, 3);
        dup2(out, 4);
        dup2(log, 1);
        dup2(log, 2);
        setenv("HOME", folder_.c_str(), 1);
        /* The sandbox refuses to run as root, as containers do. */
        execl(path.c_str(), path.c_str(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
              "--no-first-run", "--disable-extensions", "--remote-debugging-pipe", home.c_str(), size.c_str(),
              "about:blank", nullptr);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    in_ = to[1];
    out_ = from[0];
    signal(SIGPIPE, SIG_IGN);
    json_t *made = Call("Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    json_t *joined =
        Call("Target.attachToTarget", json_pack("{s:s, s:b}", "targetId", Text(made, "targetId").c_str(), "flatten", 1));
    session_ = Text(joined, "sessionId");
    json_decref(made);
    json_decref(joined);
    alive = !session_.empty();
    for (const char *domain : {"Page.enable", "Runtime.enable", "Log.enable"})
        json_decref(Call(domain, json_object()));
    Resize(width, height);
}

Browser::~Browser()
{
    if (pid_ > 0) {
        session_.clear();
        json_decref(Call("Browser.close", json_object()));
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    if (in_ >= 0)
        close(in_);
    if (out_ >= 0)
        close(out_);
    if (system(("rm -rf '" + folder_ + "'").c_str()) != 0)
        alive = false;
}

/* The next message; NULL if none comes. */
json_t *Browser::Read()
{
    for (;;) {
        size_t end = buffer_.find('\0');
        if (end != std::string::npos) {
            json_t *message = json_loadb(buffer_.data(), end, 0, nullptr);
            buffer_.erase(0, end + 1);
            return message;
        }
        char piece[65536];
        pollfd wait = {out_, POLLIN, 0};
        if (poll(&wait, 1, answer_ms) != 1)
            return nullptr;
        ssize_t size = read(out_, piece, sizeof piece);
        if (size <= 0)
            return nullptr;
        buffer_.append(piece, static_cast<size_t>(size));
    }
}

void Browser::Note(json_t *event)
{
    std::string method = Text(event, "method");
    json_t *params = json_object_get(event, "params");
    bool bad = method == "Runtime.exceptionThrown" ||
               (method == "Runtime.consoleAPICalled" && Text(params, "type") == "error") ||
               (method == "Log.entryAdded" && Text(json_object_get(params, "entry"), "level") == "error");
    if (!bad)
        return;
    char *text = json_dumps(params, JSON_COMPACT);
    errors.push_back(text != nullptr ? text : method);
    free(text);
}

/* The result, for the caller to free; NULL if the browser did not answer or refused. Takes params. */
json_t *Browser::Call(const std::string &method, json_t *params)
{
    int id = ++next_;
    json_t *message = json_pack("{s:i, s:s, s:o}", "id", id, "method", method.c_str(), "params", params);
    if (!session_.empty())
        json_object_set_new(message, "sessionId", json_string(session_.c_str()));
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    bool sent = in_ >= 0 && text != nullptr && write(in_, text, strlen(text) + 1) == static_cast<ssize_t>(strlen(text) + 1);
    free(text);
    for (json_t *answer; sent && (answer = Read()) != nullptr; json_decref(answer)) {
        Note(answer);
        if (json_integer_value(json_object_get(answer, "id")) != id)
            continue;
        json_t *result = json_incref(json_object_get(answer, "result"));
        if (result == nullptr)
            errors.push_back(method + ": " + Text(json_object_get(answer, "error"), "message"));
        json_decref(answer);
        return result;
    }
    alive = false;
    return nullptr;
}

std::string Browser::Run(const std::string &script)
{
    json_t *result = Call("Runtime.evaluate", json_pack("{s:s, s:b, s:b, s:b}", "expression", script.c_str(),
                                                        "returnByValue", 1, "awaitPromise", 1, "userGesture", 1));
    json_t *thrown = json_object_get(result, "exceptionDetails");
    if (thrown != nullptr) {
        char *text = json_dumps(thrown, JSON_COMPACT);
        errors.push_back(text != nullptr ? text : script);
        free(text);
    }
    json_t *value = json_object_get(json_object_get(result, "result"), "value");
    char *text = value != nullptr ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : nullptr;
    std::string out = text != nullptr ? text : "undefined";
    free(text);
    json_decref(result);
    return out;
}

std::string Browser::Open(const std::string &path, const std::string &fragment)
{
    char real[4096] = "";
    if (realpath(path.c_str(), real) == nullptr)
        return "no such file";
    /* To the same file with another fragment is no load, so another page comes between. */
    json_decref(Call("Page.navigate", json_pack("{s:s}", "url", "about:blank")));
    std::string url = "file://" + std::string(real) + (fragment.empty() ? "" : "#" + fragment);
    json_decref(Call("Page.navigate", json_pack("{s:s}", "url", url.c_str())));
    return Run(
        "new Promise((done) => { const look = () => document.documentElement && document.documentElement.dataset.ready ? "
        "done(document.documentElement.dataset.ready) : setTimeout(look, 10); look(); })");
}

/* Named keys, and characters. */
void Browser::Key(const std::string &key)
{
    for (const char *type : {"keyDown", "keyUp"}) {
        json_t *params = json_pack("{s:s, s:s}", "type", type, "key", key.c_str());
        if (key.size() == 1 && strcmp(type, "keyDown") == 0)
            json_object_set_new(params, "text", json_string(key.c_str()));
        if (key == "Enter" && strcmp(type, "keyDown") == 0)
            json_object_set_new(params, "text", json_string("\r"));
        json_decref(Call("Input.dispatchKeyEvent", params));
    }
}

void Browser::Mouse(const char *type, double x, double y, int clicks, bool shift)
{
    const char *button = clicks != 0 ? "left" : "none";
    json_decref(Call("Input.dispatchMouseEvent",
                     json_pack("{s:s, s:f, s:f, s:s, s:i, s:i, s:i}", "type", type, "x", x, "y", y, "button", button,
                               "buttons", clicks != 0, "clickCount", clicks, "modifiers", shift ? 8 : 0)));
}

void Browser::Move(double x, double y)
{
    Mouse("mouseMoved", x, y, 0);
}

void Browser::Click(double x, double y)
{
    Mouse("mouseMoved", x, y, 0);
    Mouse("mousePressed", x, y, 1);
    Mouse("mouseReleased", x, y, 1);
}

void Browser::Drag(double x0, double y0, double x1, double y1, bool shift)
{
    Mouse("mouseMoved", x0, y0, 0);
    Mouse("mousePressed", x0, y0, 1, shift);
    Mouse("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2, 1, shift);
    Mouse("mouseMoved", x1, y1, 1, shift);
    Mouse("mouseReleased", x1, y1, 1, shift);
}

void Browser::Resize(int width, int height)
{
    json_decref(Call("Emulation.setDeviceMetricsOverride", json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height",
                                                                     height, "deviceScaleFactor", 1, "mobile", 0)));
}

void Browser::Dark(bool dark)
{
    json_decref(Call("Emulation.setEmulatedMedia", json_pack("{s:[{s:s, s:s}]}", "features", "name", "prefers-color-scheme",
                                                             "value", dark ? "dark" : "light")));
}

void Browser::Print(bool print)
{
    json_decref(Call("Emulation.setEmulatedMedia", json_pack("{s:s}", "media", print ? "print" : "screen")));
}

std::string Browser::Version()
{
    json_t *result = Call("Browser.getVersion", json_object());
    std::string version = Text(result, "product");
    json_decref(result);
    return version;
}

double Browser::HeapBytes()
{
    json_decref(Call("HeapProfiler.collectGarbage", json_object()));
    json_t *result = Call("Runtime.getHeapUsage", json_object());
    double bytes = 0;
    for (const char *part : {"usedSize", "embedderHeapUsedSize", "backingStorageSize"})
        bytes += json_number_value(json_object_get(result, part));
    json_decref(result);
    return bytes;
}

bool Browser::Picture(const std::string &name, bool whole)
{
    Run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    json_t *result =
        Call("Page.captureScreenshot", json_pack("{s:s, s:b}", "format", "png", "captureBeyondViewport", whole));
    std::string bytes = Decode(Text(result, "data"));
    json_decref(result);
    const char *outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
    if (outputs != nullptr)
        std::ofstream(std::string(outputs) + "/" + name, std::ios::binary) << bytes;
    return bytes.size() > 1000;
}

} // namespace ptds
