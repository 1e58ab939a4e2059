#pragma once

#include <sys/types.h>

#include <functional>
#include <list>

namespace systole {

/// What must be undone if a signal ends the process: a file that is not complete, a folder for scratch files,
/// a worker process. The destructor forgets it, because then the owner has done it.
///
/// The list of these is global, as signals are. A forked process has a copy that it never uses.
class UndoneOnInterruption {
public:
    /// `undo` is called from another thread, while no UndoneOnInterruption is made or destroyed.
    explicit UndoneOnInterruption(std::function<void()> undo);
    ~UndoneOnInterruption();
    UndoneOnInterruption(const UndoneOnInterruption&) = delete;
    UndoneOnInterruption& operator=(const UndoneOnInterruption&) = delete;

private:
    std::list<std::function<void()>>::iterator place_;
};

/// While one exists, the first signal of those below is a request to end soon, which the owner looks at. A
/// second one ends the process as usual.
class InterruptionRequest {
public:
    InterruptionRequest();
    ~InterruptionRequest();
    InterruptionRequest(const InterruptionRequest&) = delete;
    InterruptionRequest& operator=(const InterruptionRequest&) = delete;

    /// The signal; 0: none yet.
    int signal() const;
};

/// From now on, SIGINT (Ctrl-C), SIGTERM and SIGHUP undo everything, last first, print "sim: interrupted ..."
/// as one line on stderr and end the process with code 128 + signal (130 for Ctrl-C). Signals that the
/// process was started to ignore stay ignored.
///
/// A thread of its own waits for the signals. They are blocked in all other threads, and in forked processes,
/// which their parent ends. Call it before the process has other threads.
void end_cleanly_on_interruption();

/// To be called first in a forked process: it is killed when `parent`, the process that forked it, ends, and
/// now if that has ended already.
void end_with_parent(pid_t parent);

}  // namespace systole
