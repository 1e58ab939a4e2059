#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace systole::hw {

template <class Signature, std::size_t Bytes>
class InplaceFunction;

/// Like std::function, for function objects of up to `Bytes` bytes, which it stores inside: it never
/// allocates. It can be moved but not copied.
template <class Result, class... Arguments, std::size_t Bytes>
class InplaceFunction<Result(Arguments...), Bytes> {
public:
    InplaceFunction() = default;
    template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, InplaceFunction>)
        // NOLINTNEXTLINE(google-explicit-constructor): lambdas convert, as to std::function.
        InplaceFunction(Function function)
        : operations_(&operations_of<Function>) {
        static_assert(sizeof(Function) <= Bytes && alignof(Function) <= alignof(std::max_align_t));
        static_assert(std::is_nothrow_move_constructible_v<Function>);
        new (function_.data()) Function(std::move(function));
    }
    InplaceFunction(InplaceFunction&& other) noexcept { take(other); }
    InplaceFunction& operator=(InplaceFunction&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    InplaceFunction(const InplaceFunction&) = delete;
    InplaceFunction& operator=(const InplaceFunction&) = delete;
    ~InplaceFunction() { reset(); }

    /// Must not be empty.
    Result operator()(Arguments... arguments) {
        return operations_->call(function_.data(), std::forward<Arguments>(arguments)...);
    }
    explicit operator bool() const { return operations_ != nullptr; }

    /// Destroys the function object.
    void reset() {
        if (operations_ != nullptr) std::exchange(operations_, nullptr)->destroy(function_.data());
    }

private:
    struct Operations {
        Result (*call)(std::byte* function, Arguments... arguments);
        void (*move)(std::byte* from, std::byte* to);
        void (*destroy)(std::byte* function);
    };

    template <class Function>
    static Function* at(std::byte* function) {
        return std::launder(reinterpret_cast<Function*>(function));
    }

    template <class Function>
    static constexpr Operations operations_of{
        [](std::byte* function, Arguments... arguments) -> Result {
            return (*at<Function>(function))(std::forward<Arguments>(arguments)...);
        },
        [](std::byte* from, std::byte* to) { new (to) Function(std::move(*at<Function>(from))); },
        [](std::byte* function) { std::destroy_at(at<Function>(function)); }};

    void take(InplaceFunction& other) {
        if (other.operations_ == nullptr) return;
        other.operations_->move(other.function_.data(), function_.data());
        operations_ = other.operations_;
        other.reset();
    }

    const Operations* operations_ = nullptr;
    alignas(std::max_align_t) std::array<std::byte, Bytes> function_;
};

}  // namespace systole::hw
