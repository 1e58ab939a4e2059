#include "sim/view/trace/counter_track.h"

namespace systole::trace {

void CounterTrack::add(Cycle at, std::int64_t amount, std::optional<hw::Tag> tag) {
    if (at >= window_.from()) finish();
    value_ += amount;
    if ((tag && !window_.takes(*tag)) || at >= window_.to()) return;
    if (at < window_.from()) {
        before_ = {at, value_};
    } else {
        write({at, value_});
    }
}

void CounterTrack::finish() {
    if (before_) write(*before_);
    before_.reset();
}

}  // namespace systole::trace
