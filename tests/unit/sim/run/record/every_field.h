#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "hw/machine/machine_config.h"
#include "sim/run/record/record.h"
#include "tests/support/source_dir.h"

/// Walks over the fields of records as they are serialized, so that no test has a list of them.
namespace systole::tests {

/// Gives every field, and every field of what is optional or listed, a value of its own that is no default.
class Filler {
public:
    template <class Value>
    void field(std::string_view name, Value& value) {
        if (name == "schema") return;
        fill(value);
    }

private:
    template <class Value>
    void fill(Value& value) {
        namespace fields = run::fields;
        ++count_;
        if constexpr (std::same_as<Value, machine::MachineConfig>) {
            value =
                machine::read_machine(std::filesystem::path(source_dir()) / "configs/machines/tpu_v1.json");
        } else if constexpr (fields::Described<Value>) {
            visit_fields(*this, value);
        } else if constexpr (fields::IsOptional<Value>::value) {
            fill(value.emplace());
        } else if constexpr (fields::IsVector<Value>::value) {
            value.resize(2);
            for (auto& element : value) fill(element);
        } else if constexpr (std::is_enum_v<Value>) {
            value = static_cast<Value>(1);
        } else if constexpr (std::same_as<Value, bool>) {
            value = true;
        } else if constexpr (std::same_as<Value, run::Json>) {
            value = {{"z", count_}, {"a", nullptr}};
        } else if constexpr (std::is_floating_point_v<Value>) {
            value = static_cast<Value>(count_) + static_cast<Value>(0.3);
        } else if constexpr (std::is_integral_v<Value>) {
            value = static_cast<Value>(count_);
        } else {
            value = "text " + std::to_string(count_);
        }
    }

    unsigned count_ = 0;
};

/// Changes one field: the number `which` of those that hold values themselves.
class Changer {
public:
    explicit Changer(std::size_t which) : which_(which) {}

    template <class Value>
    void field(std::string_view name, Value& value) {
        const std::string before = place_;
        place_ += (place_.empty() ? "" : ".") + std::string(name);
        change(value);
        place_ = before;
    }

    /// The place of the field that was changed; empty where there are not so many.
    std::string changed;
    bool is_compared = true;  ///< the changed field is

private:
    template <class Value>
    void change(Value& value) {
        namespace fields = run::fields;
        const bool outside = is_compared_here_;
        if (fields::Uncompared<Value>) is_compared_here_ = false;
        if constexpr (std::same_as<Value, machine::MachineConfig>) {
            take([&] { value.name += "!"; });
        } else if constexpr (fields::Described<Value>) {
            visit_fields(*this, value);
        } else if constexpr (fields::IsOptional<Value>::value) {
            take([&] { value ? value.reset() : void(value.emplace()); });
            if (value) change(*value);
        } else if constexpr (fields::IsVector<Value>::value) {
            take([&] { value.emplace_back(); });
            for (auto& element : value) change(element);
        } else if constexpr (std::is_enum_v<Value>) {
            const auto values = static_cast<int>(names_of(value).size());
            take([&] { value = static_cast<Value>((static_cast<int>(value) + 1) % values); });
        } else if constexpr (std::same_as<Value, bool>) {
            take([&] { value = !value; });
        } else if constexpr (std::same_as<Value, run::Json>) {
            take([&] { value["further"] = 1; });
        } else if constexpr (std::is_arithmetic_v<Value>) {
            take([&] { value = static_cast<Value>(value + 1); });
        } else {
            take([&] { value += "!"; });
        }
        is_compared_here_ = outside;
    }

    template <class Change>
    void take(const Change& apply) {
        if (seen_++ != which_) return;
        apply();
        changed = place_;
        is_compared = is_compared_here_;
    }

    std::size_t which_;
    std::size_t seen_ = 0;
    std::string place_;
    bool is_compared_here_ = true;
};

template <class Struct>
Struct filled() {
    Struct value;
    Filler filler;
    visit_fields(filler, value);
    return value;
}

}  // namespace systole::tests
