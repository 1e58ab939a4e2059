#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace systole::hw {

using Tag = std::uint16_t;

enum class CounterUnit : std::uint8_t {
    Cycles,
    Bytes,
    Rows,
    Tiles,
    Instructions,
    Macs,
    MemoryClocks,  ///< clocks of a DRAM, not cycles of the core
    Commands,      ///< to a DRAM
    Elements,
    Vectors,  ///< of a tensor core: lanes x sublanes words
};

/// Counts one thing, in total and for each debug tag.
class Counter {
public:
    Counter(std::string_view name, CounterUnit unit, std::string_view meaning)
        : name_(name), unit_(unit), meaning_(meaning) {}

    void add(std::uint64_t amount, Tag tag) {
        if (tag >= by_tag_.size()) [[unlikely]]
            grow(tag);
        by_tag_[tag] += amount;
    }
    std::uint64_t value() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t part : by_tag_) sum += part;
        return sum;
    }
    std::uint64_t value(Tag tag) const { return tag < by_tag_.size() ? by_tag_[tag] : 0; }

    /// The last tag that may have a value; later tags have none.
    Tag last_tag() const { return by_tag_.empty() ? Tag{0} : static_cast<Tag>(by_tag_.size() - 1); }

    std::string_view name() const { return name_; }
    CounterUnit unit() const { return unit_; }
    std::string_view meaning() const { return meaning_; }

private:
    /// Kept out of line, so that `add` is small enough to be inlined.
    [[gnu::noinline]] void grow(Tag tag) { by_tag_.resize(std::size_t{tag} + 1); }

    std::string_view name_;
    CounterUnit unit_;
    std::string_view meaning_;
    std::vector<std::uint64_t> by_tag_;
};

/// The counters of one unit. A derived structure declares each counter once, as a member; reports and tests
/// iterate over the group.
class CounterGroup {
public:
    CounterGroup() = default;
    CounterGroup(const CounterGroup&) = delete;
    CounterGroup& operator=(const CounterGroup&) = delete;

    auto begin() const { return counters_.begin(); }
    auto end() const { return counters_.end(); }

protected:
    ~CounterGroup() = default;
    Counter& add(std::string_view name, CounterUnit unit, std::string_view meaning) {
        return counters_.emplace_back(name, unit, meaning);
    }

private:
    std::deque<Counter> counters_;  // a deque: references stay valid
};

}  // namespace systole::hw
