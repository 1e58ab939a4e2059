#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// Many simulations on all cores: the SystemC kernel holds one simulation a process, so each gets a process.
namespace systole::pool {

/// What a child process does; it returns any bytes. It sees the memory of the parent as it was when the job
/// began, and nothing that it changes is seen by anyone else.
using Job = std::function<std::string()>;

/// How a job ended.
enum class Ending : std::uint8_t {
    Returned,  ///< with bytes
    Threw,     ///< a std::exception
    Died,      ///< its process ended before it had answered: a crash, a signal, an exit
};

struct Outcome {
    Ending ending = Ending::Died;
    std::string bytes;    ///< of a job that returned
    std::string message;  ///< of one that did not: the exception's, or how the process ended
};

/// As many as this computer has cores for this process.
std::size_t cores();

/// Runs each job in a child process, at most `workers` at once (0: cores()), and returns the outcomes in the
/// order of the jobs, whatever order they ended in. Jobs begin in their order. Results may be of any size.
///
/// A child is a copy of this thread alone: before it, the process must not have run an OpenMP team of several
/// threads, whose copies a child would wait for, and must not have begun a simulation.
///
/// Throws std::system_error where the system gives no process or pipe; children under way are ended then.
std::vector<Outcome> run(std::span<const Job> jobs, std::size_t workers = 0);

/// A job did not return. The message is the job's own.
class JobError : public std::runtime_error {
public:
    JobError(std::size_t job, Ending ending, const std::string& message)
        : std::runtime_error(message), job_(job), ending_(ending) {}

    std::size_t job() const { return job_; }
    Ending ending() const { return ending_; }

private:
    std::size_t job_;
    Ending ending_;
};

/// The bytes of all jobs, in their order. Throws JobError for the first that did not return; the others have
/// run then, too.
std::vector<std::string> run_or_throw(std::span<const Job> jobs, std::size_t workers = 0);

}  // namespace systole::pool
