#include "compiler/frontend/keras/child_process.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <system_error>

#include "base/interruption.h"

namespace systole::frontend {
namespace {

void limit(__rlimit_resource resource, rlim_t value) {
    const rlimit both{.rlim_cur = value, .rlim_max = value};
    setrlimit(resource, &both);
}

/// Writes the text of `work` and ends the process, without buffers and exit handlers: they are not its own.
[[noreturn]] void be_child(const std::function<std::string()>& work, unsigned cpu_seconds, int to,
                           pid_t parent) {
    end_with_parent(parent);  // because the signals that end it are blocked here
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, cpu_seconds);
    std::string text;
    try {
        text = work();
    } catch (const std::exception&) {
        _exit(EXIT_SUCCESS);
    }
    const auto written = ::write(to, text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? EXIT_SUCCESS : EXIT_FAILURE);
}

std::string read_all(int from) {
    std::string text;
    std::array<char, 4096> piece{};
    while (true) {
        const ssize_t count = ::read(from, piece.data(), piece.size());
        if (count > 0) {
            text.append(piece.data(), static_cast<std::size_t>(count));
        } else if (count == 0 || errno != EINTR) {
            return text;
        }
    }
}

}  // namespace

std::optional<std::string> run_in_child(const std::function<std::string()>& work, unsigned cpu_seconds) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const auto [from, to] = ends;
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) be_child(work, cpu_seconds, to, parent);
    close(to);
    if (child < 0) {
        close(from);
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    std::string text = read_all(from);
    close(from);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) return std::nullopt;
    return text;
}

}  // namespace systole::frontend
