#include "sim/run/execute/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "base/interruption.h"
#include "sim/run/record/fields.h"

namespace systole::run {
namespace {

/// Writes to a socket without SIGPIPE if the other end is closed; only `send` has a flag for this.
ssize_t write_some(int to, std::string_view text) {
    const ssize_t sent = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK) return sent;
    return ::write(to, text.data(), text.size());
}

bool write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write_some(to, text);
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Reads `size` bytes, or fewer at the end of the stream; returns their number.
std::size_t read_up_to(int from, char* to, std::size_t size) {
    std::size_t have = 0;
    while (have < size) {
        const ssize_t count = ::read(from, to + have, size - have);
        if (count < 0) {
            if (errno == EINTR) continue;
            if (errno == ECONNRESET) return have;
            fail_with_errno("read");
        }
        if (count == 0) break;
        have += static_cast<std::size_t>(count);
    }
    return have;
}

}  // namespace

void fail_with_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

std::string length_text(std::uint64_t length) {
    std::string text;
    for (std::size_t i = 0; i < length_bytes; ++i) text += static_cast<char>((length >> (8 * i)) & 255U);
    return text;
}

std::uint64_t read_length(std::string_view text) {
    if (text.size() < length_bytes) throw RecordError("the message ends within a length");
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        length |= std::uint64_t{static_cast<std::uint8_t>(text[i])} << (8 * i);
    }
    return length;
}

bool write_message(int to, std::string_view message) {
    return write_all(to, length_text(message.size())) && write_all(to, message);
}

std::optional<std::string> read_message(int from) {
    std::array<char, length_bytes> length{};
    if (read_up_to(from, length.data(), length.size()) < length.size()) return std::nullopt;
    const std::uint64_t size = read_length({length.data(), length.size()});
    // Read in pieces, so that a wrong length does not allocate all memory.
    constexpr std::uint64_t most_at_once = std::uint64_t{1} << 20U;
    std::string message;
    while (message.size() < size) {
        const std::size_t have = message.size();
        const auto piece = static_cast<std::size_t>(std::min(most_at_once, size - have));
        message.resize(have + piece);
        if (read_up_to(from, message.data() + have, piece) < piece) return std::nullopt;
    }
    return message;
}

namespace {

/// The first byte of an answer, before a result or an exception's message.
constexpr char returned_mark = 'r';
constexpr char threw_mark = 't';

/// Does the work, answers and ends the process, without flushing buffers or running exit handlers, because
/// both are copies of the parent's.
[[noreturn]] void be_child(const std::function<std::string()>& work, int to, pid_t parent) noexcept {
    end_with_parent(parent);
    std::signal(SIGPIPE, SIG_IGN);
    std::string answer;
    try {
        answer = returned_mark + work();
    } catch (const std::exception& error) {
        answer = threw_mark + line_of(error);
    }  // any other exception ends the process: it must not unwind into the parent's stack frames
    _exit(write_message(to, answer) ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace

std::string ending_text(int status) {
    if (WIFSIGNALED(status)) {
        const char* const name = ::strsignal(WTERMSIG(status));
        return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), name);
    }
    return fmt::format("its process ended with code {} before it had answered", WEXITSTATUS(status));
}

ChildProcess::~ChildProcess() {
    give_up();
}

ChildAnswer ChildProcess::run(const std::function<std::string()>& work) {
    start(work);
    return answer();
}

void ChildProcess::start(const std::function<std::string()>& work) {
    give_up();
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_with_errno("pipe");
    from_ = Descriptor(ends[0]);
    const Descriptor to(ends[1]);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) fail_with_errno("fork");
    if (process_ == 0) be_child(work, to.number(), parent);
}

ChildAnswer ChildProcess::answer() {
    const std::optional<std::string> answer = read_message(from_.number());
    from_.close();
    if (!answer || answer->empty()) return {.is_result = false, .died = true, .bytes = ending_text(wait())};
    const bool returned = answer->front() == returned_mark;
    return {.is_result = returned, .died = false, .bytes = answer->substr(1)};
}

void ChildProcess::give_up() {
    // Nobody reads what it would answer, and it would wait for a reader.
    if (process_ > 0 && from_.number() >= 0) ::kill(process_, SIGKILL);
    from_.close();
    wait();
}

int ChildProcess::wait() {
    int status = 0;
    if (process_ <= 0) return status;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
}

}  // namespace systole::run
