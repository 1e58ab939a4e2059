#include "sim/run/execute/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "sim/run/execute/message.h"

namespace systole::run {
namespace {

/// The first byte of an answer, before a result or an exception's message.
constexpr char returned_mark = 'r';
constexpr char threw_mark = 't';

/// Does the work, answers and ends the process, without flushing buffers or running exit handlers, because
/// both are copies of the parent's.
[[noreturn]] void be_child(const std::function<std::string()>& work, int to) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGPIPE, SIG_IGN);
    std::string answer;
    try {
        answer = returned_mark + work();
    } catch (const std::exception& error) {
        answer = threw_mark + std::string(error.what());
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

ChildAnswer do_in_child(const std::function<std::string()>& work) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_with_errno("pipe");
    const Descriptor from(ends[0]);
    Descriptor to(ends[1]);
    const pid_t process = ::fork();
    if (process < 0) fail_with_errno("fork");
    if (process == 0) be_child(work, to.number());
    to.close();
    std::optional<std::string> answer = read_message(from.number());
    int status = 0;
    while (::waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) fail_with_errno("waitpid");
    }
    if (!answer || answer->empty()) return {.is_result = false, .bytes = ending_text(status)};
    const bool returned = answer->front() == returned_mark;
    return {.is_result = returned, .bytes = answer->substr(1)};
}

}  // namespace systole::run
