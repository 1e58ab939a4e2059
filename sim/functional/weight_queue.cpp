#include "sim/functional/weight_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hw/isa/program_error.h"

namespace systole::functional {

void WeightQueue::write(std::uint32_t number, isa::WeightTile tile) {
    std::deque<Version>& versions = written_[number];
    versions.push_back({++writes_, std::make_shared<const isa::WeightTile>(std::move(tile))});
    const auto is_over = [&] { return fetched_.empty() || versions[1].write <= fetched_.front().writes; };
    while (versions.size() > 1 && is_over()) versions.pop_front();
}

WeightQueue::Contents WeightQueue::contents_of(std::uint32_t number, std::uint64_t writes) const {
    if (const auto found = written_.find(number); found != written_.end()) {
        const std::deque<Version>& versions = found->second;
        const auto later = std::ranges::upper_bound(versions, writes, {}, &Version::write);
        if (later != versions.begin()) return std::prev(later)->contents;
    }
    return {Contents(), &tiles_[number]};  // the program owns it
}

const isa::WeightTile& WeightQueue::next() {
    if (fetched_.empty()) {
        throw isa::ProgramError("no weight tile is left; read_weights must fetch one for each repetition");
    }
    Fetch& oldest = fetched_.front();
    current_ = contents_of(oldest.first, oldest.writes);
    ++oldest.first;
    --oldest.count;
    if (oldest.count == 0) fetched_.pop_front();
    return *current_;
}

const isa::WeightTile& WeightQueue::current() const {
    if (current_ == nullptr) {
        throw isa::ProgramError("there are no weights in the array; keep must follow a use of a tile");
    }
    return *current_;
}

}  // namespace systole::functional
