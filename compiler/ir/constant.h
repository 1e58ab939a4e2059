#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace systole::ir {

/// The contents of a constant tensor; shared between graphs and never changed. The values may be unknown,
/// because networks can be compiled without weights to be timed.
class Constant {
public:
    /// A constant with unknown values.
    Constant() = default;

    /// Makes a constant from values in the type of the tensor.
    template <typename Number>
    static Constant of(std::vector<Number> values) {
        auto owner = std::make_shared<const std::vector<Number>>(std::move(values));
        Constant constant;
        constant.data_ = owner->data();
        constant.bytes_ = owner->size() * sizeof(Number);
        constant.is_known_ = true;
        constant.owner_ = std::move(owner);
        return constant;
    }

    bool is_known() const { return is_known_; }
    /// The values as little-endian bytes; empty if they are unknown.
    std::span<const std::uint8_t> bytes() const { return {static_cast<const std::uint8_t*>(data_), bytes_}; }
    /// The values, in the type that they were made with; empty if they are unknown.
    template <typename Number>
    std::span<const Number> values() const {
        return {static_cast<const Number*>(data_), bytes_ / sizeof(Number)};
    }

    bool operator==(const Constant& other) const {
        if (is_known_ != other.is_known_) return false;
        return data_ == other.data_ || std::ranges::equal(bytes(), other.bytes());
    }

private:
    std::shared_ptr<const void> owner_;
    const void* data_ = nullptr;
    std::size_t bytes_ = 0;
    bool is_known_ = false;
};

}  // namespace systole::ir
