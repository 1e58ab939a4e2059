#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace systole::tests {

/// A value change dump (IEEE 1800-2017, 21.7.2), read back and checked.
struct ReadVcd {
    using Value = std::optional<std::uint64_t>;  ///< nullopt: high impedance

    struct Signal {
        unsigned width = 0;
        std::map<std::uint64_t, Value> changes;  ///< by time

        /// The value at a time.
        Value at(std::uint64_t time) const { return std::prev(changes.upper_bound(time))->second; }
    };

    static constexpr std::uint64_t cycle_units = 10;

    std::string timescale;
    std::map<std::string, Signal> signals;  ///< by scopes and name, with dots between them
    std::uint64_t end = 0;                  ///< the last time

    std::uint64_t end_cycle() const { return end / cycle_units; }
    Value at(const std::string& name, std::uint64_t cycle) const {
        return signals.at("tpu." + name).at(cycle * cycle_units);
    }
    /// The value of a signal in each cycle.
    std::vector<Value> by_cycle(const std::string& name) const {
        const Signal& signal = signals.at("tpu." + name);
        std::vector<Value> values;
        auto change = signal.changes.begin();
        for (std::uint64_t cycle = 0; cycle < end_cycle(); ++cycle) {
            while (std::next(change) != signal.changes.end() &&
                   std::next(change)->first <= cycle * cycle_units) {
                ++change;
            }
            values.push_back(change->second);
        }
        return values;
    }
    /// Cycles in which a signal is 1.
    std::uint64_t count(const std::string& name) const {
        const std::vector<Value> values = by_cycle(name);
        return static_cast<std::uint64_t>(std::count(values.begin(), values.end(), Value(1)));
    }
};

/// Reads a dump word by word; the test fails at any error of the format.
class VcdReader {
public:
    explicit VcdReader(const std::string& text) : words_(text) {}

    ReadVcd read() {
        read_header();
        read_values();
        for (const auto& [code, name] : names_) {
            CAPTURE(name);
            REQUIRE(!read_.signals.at(name).changes.empty());  // each has a value from the beginning on
        }
        return std::move(read_);
    }

private:
    std::string word() {
        std::string next;
        REQUIRE(words_ >> next);
        return next;
    }
    /// The words up to $end, with a space between them.
    std::string section() {
        std::string text;
        for (std::string next = word(); next != "$end"; next = word())
            text += (text.empty() ? "" : " ") + next;
        return text;
    }

    void read_header() {
        std::vector<std::string> scopes;
        std::set<std::string> sections;
        for (std::string keyword = word(); keyword != "$enddefinitions"; keyword = word()) {
            if (keyword == "$scope") {
                REQUIRE(word() == "module");
                scopes.push_back(word());
                REQUIRE(section().empty());
            } else if (keyword == "$upscope") {
                REQUIRE(!scopes.empty());
                scopes.pop_back();
                REQUIRE(section().empty());
            } else if (keyword == "$var") {
                read_variable(scopes);
            } else {
                CAPTURE(keyword);
                REQUIRE((keyword == "$date" || keyword == "$version" || keyword == "$timescale"));
                REQUIRE(sections.insert(keyword).second);
                const std::string text = section();
                if (keyword == "$timescale") read_.timescale = text;
            }
        }
        REQUIRE(section().empty());
        REQUIRE(scopes.empty());
        REQUIRE(!read_.timescale.empty());
    }

    void read_variable(const std::vector<std::string>& scopes) {
        REQUIRE(word() == "wire");
        const auto width = static_cast<unsigned>(std::stoul(word()));
        const std::string code = word();
        REQUIRE(!scopes.empty());
        REQUIRE(scopes.front() == "SystemC");
        std::string name;
        for (std::size_t i = 1; i < scopes.size(); ++i) name += scopes[i] + ".";
        name += word();
        const std::string range = section();
        CAPTURE(name);
        REQUIRE(range == (width == 1 ? "" : "[" + std::to_string(width - 1) + ":0]"));
        REQUIRE(names_.emplace(code, name).second);
        REQUIRE(read_.signals.emplace(name, ReadVcd::Signal{width, {}}).second);
    }

    void read_values() {
        bool is_first = true;
        for (std::string next; words_ >> next;) {
            if (next == "$comment") {
                section();
            } else if (next == "$dumpvars") {
                REQUIRE(is_first);
                for (next = word(); next != "$end"; next = word()) change(next);
            } else if (next.front() == '#') {
                const std::uint64_t time = std::stoull(next.substr(1));
                REQUIRE((is_first || time > read_.end));
                read_.end = time;
                is_first = false;
            } else {
                change(next);
            }
        }
    }

    void change(const std::string& first) {
        const bool is_vector = first.front() == 'b';
        const std::string digits = is_vector ? first.substr(1) : first.substr(0, 1);
        const std::string code = is_vector ? word() : first.substr(1);
        CAPTURE(first, code);
        const auto found = names_.find(code);
        REQUIRE(found != names_.end());
        ReadVcd::Signal& signal = read_.signals.at(found->second);
        REQUIRE(is_vector == (signal.width > 1));
        REQUIRE(!digits.empty());
        REQUIRE(digits.size() <= signal.width);
        const ReadVcd::Value value = value_of(digits);
        // A signal changes at most once in an instant, and never to the value it has.
        REQUIRE((signal.changes.empty() ||
                 (signal.changes.rbegin()->first < read_.end && signal.changes.rbegin()->second != value)));
        signal.changes.emplace(read_.end, value);
    }

    static ReadVcd::Value value_of(const std::string& digits) {
        const bool is_open = std::all_of(digits.begin(), digits.end(),
                                         [](char digit) { return digit == 'z' || digit == 'Z'; });
        if (is_open) return std::nullopt;
        std::uint64_t value = 0;
        for (const char digit : digits) {
            REQUIRE((digit == '0' || digit == '1'));
            value = 2 * value + (digit == '1' ? 1 : 0);
        }
        return value;
    }

    std::istringstream words_;
    std::map<std::string, std::string> names_;  ///< by their codes in the file
    ReadVcd read_;
};

inline ReadVcd read_vcd(const std::string& text) {
    return VcdReader(text).read();
}

}  // namespace systole::tests
