#pragma once

#include <cstdint>
#include <string_view>

namespace systole::hw {

/// What a process waits for, in a few words, for the message of a run that is stuck.
class WaitState {
public:
    /// Sets the state for the lifetime of the object.
    class Scope {
    public:
        Scope(WaitState& state, std::string_view what, std::uint64_t number = 0) : state_(state) {
            state_.what_ = what;
            state_.number_ = number;
        }
        ~Scope() { state_.what_ = {}; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        WaitState& state_;
    };

    explicit WaitState(std::string_view unit) : unit_(unit) {}

    std::string_view unit() const { return unit_; }
    /// Empty when the process does not wait.
    std::string_view what() const { return what_; }
    /// The number of the semaphore or instruction, if `what` ends in "semaphore" or "instruction".
    std::uint64_t number() const { return number_; }

private:
    std::string_view unit_;
    std::string_view what_;
    std::uint64_t number_ = 0;
};

}  // namespace systole::hw
