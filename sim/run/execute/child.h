#pragma once

#include <functional>
#include <string>

namespace systole::run {

/// The result of work in another process.
struct ChildAnswer {
    bool is_result = false;
    std::string bytes;  ///< the returned bytes, or the error: an exception's message, a signal
};

/// Does the work in a copy of this process, because the SystemC kernel allows one simulation in a process.
/// This process must have no other thread. The result of an exception is its message; if the copy dies, the
/// result says how. The copy ends with this process at the latest. Throws std::system_error if the system
/// gives no process or pipe.
ChildAnswer do_in_child(const std::function<std::string()>& work);

/// "signal 9 (Killed)" or "code 3".
std::string ending_text(int status);

}  // namespace systole::run
