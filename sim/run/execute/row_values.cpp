#include "sim/run/execute/row_values.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "hw/isa/program.h"
#include "hw/isa/registers.h"

namespace systole::run {
namespace {

constexpr std::uint64_t no_row = std::numeric_limits<std::uint64_t>::max();

bool is_before(const RowValue& a, const RowValue& b) {
    return std::tie(a.visit, a.writer, a.rows.first, a.begin) <
           std::tie(b.visit, b.writer, b.rows.first, b.begin);
}

/// Walks a program as the sequencer does: a register or tag holds until it is set again.
class Walk {
public:
    Walk(const isa::Program& program, const Spans& spans, std::span<const machine::UnitDescription> units)
        : program_(program), spans_(spans) {
        for (const machine::UnitDescription& unit : units) {
            const std::optional<isa::MemoryId> memory = isa::memory_named(unit.name);
            if (memory && unit.occupied) {
                followed_.push_back({*memory, unit.name, RowTracker(unit.occupied->in_place)});
            }
        }
        std::ranges::sort(followed_, {}, &Followed::memory);
    }

    MemoryValues values() && {
        for (std::size_t number = 0; number < program_.instructions.size(); ++number) {
            const isa::Instruction& instruction = program_.instructions[number];
            if (std::holds_alternative<isa::Halt>(instruction)) break;
            follow(instruction, number);
        }
        MemoryValues values{.writers = std::move(writers_), .memories = {}};
        for (Followed& each : followed_) {
            values.memories.push_back({.unit = each.unit, .values = std::move(each.tracker).take()});
        }
        return values;
    }

private:
    /// A memory whose values are followed, and the unit that it is.
    struct Followed {
        isa::MemoryId memory = isa::MemoryId::UnifiedBuffer;
        std::string unit = {};
        RowTracker tracker{};
    };

    void follow(const isa::Instruction& instruction, std::size_t number) {
        if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
            registers_.set(config->reg, config->value);
        } else if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) {
            if (tag->tag != tag_) ++visit_;
            tag_ = tag->tag;
        } else if (number < spans_.size() && spans_[number].released > 0) {
            touch(instruction, spans_[number]);
        }
    }

    void touch(const isa::Instruction& instruction, const Span& span) {
        const isa::Footprint footprint = isa::footprint(instruction, registers_, program_);
        if (std::holds_alternative<isa::Exchange>(instruction)) {  // fills margins of what it reads
            for (const auto& [memory, access, rows] : footprint) {
                RowTracker* const tracker = tracker_of(memory);
                if (tracker != nullptr && access == isa::Access::Write) tracker->update(rows, span);
            }
            return;
        }
        for (const auto& [memory, access, rows] : footprint) {
            RowTracker* const tracker = tracker_of(memory);
            if (tracker != nullptr && access == isa::Access::Read) tracker->read(rows, span);
        }
        std::optional<std::size_t> writer;
        for (const auto& [memory, access, rows] : footprint) {
            RowTracker* const tracker = tracker_of(memory);
            if (tracker == nullptr || access == isa::Access::Read || rows.empty()) continue;
            if (!writer) writer = writer_of(footprint);
            tracker->write(rows, *writer, visit_, span);
        }
    }

    /// Null for memories whose values are not followed.
    RowTracker* tracker_of(isa::MemoryId memory) {
        for (Followed& each : followed_) {
            if (each.memory == memory) return &each.tracker;
        }
        return nullptr;
    }

    /// Values from the host have the name of their host buffer, all others the name of their layer.
    std::size_t writer_of(const isa::Footprint& footprint) {
        const isa::RowRange read = footprint.read_rows(isa::MemoryId::HostMemory);
        if (read.empty()) return index_of(isa::layer_name(program_, tag_));
        for (const isa::HostBuffer& buffer : program_.buffers) {
            if (read.first >= buffer.address && read.first < buffer.address + buffer.bytes) {
                return index_of(buffer.name);
            }
        }
        return index_of("host memory");
    }

    std::size_t index_of(const std::string& name) {
        const auto [entry, is_new] = indices_.try_emplace(name, writers_.size());
        if (is_new) writers_.push_back(name);
        return entry->second;
    }

    const isa::Program& program_;
    const Spans& spans_;
    isa::Registers registers_;
    run::Tag tag_ = 0;
    std::size_t visit_ = 0;  ///< incremented whenever the tag changes
    std::map<std::string, std::size_t> indices_;
    std::vector<std::string> writers_;
    std::vector<Followed> followed_;
};

}  // namespace

RowTracker::Segments::iterator RowTracker::split(std::uint64_t row) {
    const auto behind = segments_.lower_bound(row);
    if (behind != segments_.end() && behind->first == row) return behind;
    return segments_.emplace_hint(behind, row, std::prev(behind)->second);
}

void RowTracker::close(Segments::const_iterator segment) {
    const auto& [first, value] = *segment;
    if (!value.is_live) return;
    const auto next = std::next(segment);
    values_.push_back({.writer = value.writer,
                       .visit = value.visit,
                       .rows = {first, next == segments_.end() ? no_row : next->first},
                       .begin = value.begin,
                       .end = value.end});
}

void RowTracker::write(const isa::RowRange& rows, std::size_t writer, std::size_t visit, const Span& span) {
    if (rows.empty()) return;
    const auto end = split(rows.last);
    bool goes_on = false;  // the previous segment has the new value
    for (auto segment = split(rows.first); segment != end;) {
        Segment& value = segment->second;
        if (value.is_live && !value.is_read) {
            value.end = std::max(value.end, span.complete);
            goes_on = false;
            ++segment;
            continue;
        }
        if (in_place_) value.end = std::min(value.end, std::max(value.begin, span.begun));
        close(segment);
        if (goes_on) {
            segment = segments_.erase(segment);
            continue;
        }
        value = {.is_live = true,
                 .is_read = false,
                 .writer = writer,
                 .visit = visit,
                 .begin = span.begun,
                 .end = span.complete};
        goes_on = true;
        ++segment;
    }
}

void RowTracker::read(const isa::RowRange& rows, const Span& span) {
    if (rows.empty()) return;
    const auto end = split(rows.last);
    for (auto segment = split(rows.first); segment != end; ++segment) {
        if (!segment->second.is_live) continue;
        segment->second.is_read = true;
        segment->second.end = std::max(segment->second.end, span.released);
    }
}

void RowTracker::update(const isa::RowRange& rows, const Span& span) {
    if (rows.empty()) return;
    const auto end = split(rows.last);
    for (auto segment = split(rows.first); segment != end; ++segment) {
        if (segment->second.is_live) segment->second.end = std::max(segment->second.end, span.complete);
    }
}

std::vector<RowValue> RowTracker::take() && {
    for (auto segment = segments_.cbegin(); segment != segments_.cend(); ++segment) close(segment);
    std::sort(values_.begin(), values_.end(), is_before);
    return std::move(values_);
}

MemoryValues find_values(const isa::Program& program, const Spans& spans,
                         std::span<const machine::UnitDescription> units) {
    return Walk(program, spans, units).values();
}

}  // namespace systole::run
