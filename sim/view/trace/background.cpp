#include "sim/view/trace/background.h"

#include <utility>

namespace systole::trace {

Background::Background(std::vector<hw::TraceSink*> sinks)
    : sinks_(std::move(sinks)), worker_(most_blocks, [this](Block& block) {
          tell(block);
          block.clear();
      }) {
    for (std::size_t core = 0; core < sinks_.size(); ++core) cores_.emplace_back(*this, core);
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

void Background::tell(const Block& block) {
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
        void operator()(const Begun& begun) const { to.begun(*begun.core); }
        void operator()(const Ended& ended) const { to.ended(ended.end, ended.tag); }
        void operator()(const Failed& failed) const { to.failed(*failed.where); }
        void operator()(const Core& /*core*/) const {}
    };
    for (const Event& event : block) {
        if (const auto* const next = std::get_if<Core>(&event)) told_ = next->core;
        std::visit(Teller{*sinks_[told_]}, event);
    }
}

}  // namespace systole::trace
