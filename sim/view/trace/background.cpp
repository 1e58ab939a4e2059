#include "sim/view/trace/background.h"

#include <utility>

namespace systole::trace {

Background::Background(hw::TraceSink& sink)
    : worker_(most_blocks, [&sink](Block& block) {
          tell(sink, block);
          block.clear();
      }) {
    block_.reserve(block_events);
}

void Background::finish() {
    pass_on();
    worker_.finish();
}

void Background::pass_on() {
    block_ = worker_.pass_on(std::move(block_));
    block_.reserve(block_events);
}

void Background::tell(hw::TraceSink& sink, const Block& block) {
    struct Teller {
        hw::TraceSink& to;
        void operator()(const hw::InstructionTimes& times) const { to.instruction(times); }
        void operator()(const hw::IssueTimes& times) const { to.issued(times); }
        void operator()(const hw::QueueTimes& times) const { to.queued(times); }
        void operator()(const hw::TileTimes& times) const { to.tile(times); }
        void operator()(const hw::MatrixIdleTimes& times) const { to.matrix_idle(times); }
        void operator()(const hw::StreamTimes& times) const { to.stream(times); }
        void operator()(const hw::StallTimes& times) const { to.stalled(times); }
        void operator()(const Fetched& fetched) const { to.tile_fetched(fetched.times); }
        void operator()(const Begun& begun) const { to.begun(*begun.queues); }
        void operator()(const Ended& ended) const { to.ended(ended.end, ended.tag); }
        void operator()(const Failed& failed) const { to.failed(*failed.where); }
    };
    for (const Event& event : block) std::visit(Teller{sink}, event);
}

}  // namespace systole::trace
