#include "sim/functional/weight_queue.h"

#include "hw/isa/program_error.h"

namespace systole::functional {

const isa::WeightTile& WeightQueue::next() {
    if (fetched_.empty()) {
        throw isa::ProgramError("no weight tile is left; read_weights must fetch one for each repetition");
    }
    Fetch& oldest = fetched_.front();
    current_ = &tiles_[oldest.first];
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
