#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Child processes, and messages between processes: the length in eight bytes, little endian, then that
/// number of bytes.
namespace systole::run {

/// Throws std::system_error for errno.
[[noreturn]] void fail_with_errno(const char* what);

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    int number() const { return number_; }
    void close() { *this = Descriptor(); }

private:
    int number_;
};

constexpr std::size_t length_bytes = 8;

/// A length in eight bytes, little endian.
std::string length_text(std::uint64_t length);
/// The length that the text begins with. Throws RecordError where the text is shorter than a length.
std::uint64_t read_length(std::string_view text);

/// False if the other end has been closed.
bool write_message(int to, std::string_view message);
/// Absent at the end of the stream, also if it ends inside a message.
std::optional<std::string> read_message(int from);

/// The result of work in another process.
struct ChildAnswer {
    bool is_result = false;
    bool died = false;  ///< neither returned nor threw
    std::string bytes;  ///< the returned bytes, or the error: an exception's message, a signal
};

/// Does work in copies of this process, one after the other, because the SystemC kernel allows one simulation
/// in a process. This process must have no other thread.
class ChildProcess {
public:
    ChildProcess() = default;
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess();

    /// The result of an exception is its message; if the copy dies, the result says how. The copy ends with
    /// this process at the latest; it may still be freeing its memory when its answer is there. Throws
    /// std::system_error if the system gives no process or pipe.
    ChildAnswer run(const std::function<std::string()>& work);

    /// The same in two halves: between them, other copies may work, too. A copy that is not asked for its
    /// answer is ended.
    void start(const std::function<std::string()>& work);
    ChildAnswer answer();

private:
    /// Ends the copy, if it has not answered.
    void give_up();
    /// Waits for the end of the copy. Returns its status.
    int wait();

    int process_ = -1;  ///< the copy that has not been waited for; -1: none
    Descriptor from_;   ///< where its answer comes from
};

/// "signal 9 (Killed)" or "code 3".
std::string ending_text(int status);

}  // namespace systole::run
