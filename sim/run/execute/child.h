#pragma once

#include <functional>
#include <string>

namespace systole::run {

/// How work in another process ended.
struct ChildAnswer {
    bool is_result = false;
    std::string bytes;  ///< what it returned; else why there is nothing: an exception's message, a signal
};

/// Does the work in a copy of this process, which must have no thread beside this one: the SystemC kernel
/// holds one simulation a process. What is thrown in it comes back as its message; one that dies, as how. It
/// ends with this process at the latest. Throws std::system_error where the system gives no process or pipe.
ChildAnswer do_in_child(const std::function<std::string()>& work);

/// "signal 9 (Killed)" or "code 3".
std::string ending_text(int status);

}  // namespace systole::run
