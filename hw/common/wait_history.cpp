#include "hw/common/wait_history.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace systole::hw {

namespace {

using Activity = UnitHistory::Activity;

bool is_work(const UnitHistory::Span& span) {
    return span.activity == Activity::Work || span.activity == Activity::VectorWork;
}

/// The cycle in which the results of the instruction at a position were there; 0 if this was forgotten.
Cycle complete(const UnitHistory& history, isa::Position position) {
    if (position == 0) return 0;
    const auto place = history.find(position - 1);
    return place ? history.spans()[*place].complete : 0;
}

}  // namespace

void UnitHistory::waited(Activity activity, Cycle until, std::size_t signaller) {
    if (until <= until_) return;
    spans_.push_back({.from = until_,
                      .until = until,
                      .complete = until,
                      .activity = activity,
                      .number = next_,
                      .signaller = signaller});
    until_ = until;
}

void UnitHistory::worked(Activity activity, InstructionNumber number, Tag tag, Cycle until, Cycle complete) {
    spans_.push_back({.from = until_,
                      .until = until,
                      .complete = complete,
                      .activity = activity,
                      .tag = tag,
                      .number = number});
    until_ = until;
    next_ = number + 1;
}

void UnitHistory::forget(Cycle cycle) {
    while (!spans_.empty() && spans_.front().complete <= cycle) spans_.pop_front();
}

std::optional<std::size_t> UnitHistory::find(InstructionNumber number) const {
    std::size_t first = 0;
    std::size_t end = spans_.size();
    while (first < end) {
        const std::size_t middle = first + (end - first) / 2;
        const Span& span = spans_[middle];
        // The waits before an instruction come before it, and may have its number.
        if (span.number < number || (span.number == number && !is_work(span))) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    if (first == spans_.size() || spans_[first].number != number) return std::nullopt;
    return first;
}

/// Goes through the cycles of one wait, from its begin to its end.
class WaitHistory::Explanation {
public:
    Explanation(const WaitHistory& history, const Wait& wait, const Count& count)
        : history_(history), wait_(wait), count_(count), now_(wait.begin) {}

    /// The cycles until an instruction of another unit is complete, if they have not been counted.
    void wait_for(const UnitHistory& unit, isa::Position position, NonMatrixReason reason) {
        const Cycle met = std::min(complete(unit, position), wait_.end);
        if (met <= now_) return;
        const std::size_t awaited = unit.find(position - 1).value();
        const auto& spans = unit.spans();
        for (std::size_t place = 0; place < awaited; ++place) earlier(spans[place], met, reason);
        if (spans[awaited].activity == Activity::VectorWork) {
            spend(NonMatrixReason::VectorWork, met, spans[awaited].tag);
        } else {
            spend(reason, met, layer_of(spans[awaited], reason));
        }
    }

    void wait_for_own_writes() {
        spend(NonMatrixReason::Raw, std::min(wait_.needs.own_writes, wait_.end), wait_.tag);
    }

    void wait_for_issue() { not_issued_until(std::min(wait_.issued, wait_.end)); }

    void wait_for_rest() { spend(NonMatrixReason::Sync, wait_.end, wait_.tag); }

private:
    /// The layer for which cycles count in which a unit worked.
    Tag layer_of(const UnitHistory::Span& work, NonMatrixReason reason) const {
        return reason == NonMatrixReason::Collective ? work.tag : wait_.tag;
    }

    /// What the unit did before it began the awaited instruction. `reason` is that of waiting for the latter.
    void earlier(const UnitHistory::Span& span, Cycle met, NonMatrixReason reason) {
        const Cycle until = std::min(span.until, met);
        if (until <= now_) return;
        switch (span.activity) {
            case Activity::Work:
            case Activity::OwnWrites:
                return spend(reason, until, layer_of(span, reason));
            case Activity::VectorWork:
                return spend(NonMatrixReason::VectorWork, until, span.tag);
            case Activity::NoInstruction:
                return not_issued_until(until);
            case Activity::Semaphore:
                if (history_.role_of(span.signaller) == QueueRole::Delivers &&
                    reason != NonMatrixReason::Input) {
                    return spend_on_reads(NonMatrixReason::Input, until);
                }
                if (history_.role_of(span.signaller) == QueueRole::Exchanges) {
                    return spend_on_exchanges(until, reason_of(span.signaller, reason));
                }
                return spend(reason_of(span.signaller, reason), until, wait_.tag);
            case Activity::Port:
                return spend(NonMatrixReason::Port, until, wait_.tag);
        }
        throw std::logic_error("an activity that explains no wait");
    }

    /// The reason why a unit waited for a signal, while the matrix unit waited for it for `reason`.
    NonMatrixReason reason_of(std::size_t signaller, NonMatrixReason reason) const {
        if (signaller == isa::queue_count) return NonMatrixReason::Sync;  // in another core
        const QueueRole role = history_.role_of(signaller);
        if (role == QueueRole::Host) return NonMatrixReason::Host;
        // The memory from which rows come gets from the host what it delivers.
        if (role == QueueRole::Feeds) return NonMatrixReason::Input;
        if (reason == NonMatrixReason::Input) return NonMatrixReason::InputBuffer;
        if (role == QueueRole::Fetches) return NonMatrixReason::OutputBuffer;
        if (reason == NonMatrixReason::Collective) return NonMatrixReason::Raw;
        return reason;  // sums on their way through the array, or rows of other units
    }

    bool waits_for(const UnitHistory::Span& span, QueueRole role) const {
        return span.activity == Activity::Semaphore && history_.role_of(span.signaller) == role;
    }

    /// Cycles in which the host's reads were awaited; those in which the reads waited for the host's work
    /// themselves are the host's.
    void spend_on_reads(NonMatrixReason reason, Cycle until) {
        const auto& spans = history_.inputs_.spans();
        while (first_read_ < spans.size() && spans[first_read_].until <= now_) ++first_read_;
        for (std::size_t place = first_read_; place < spans.size() && spans[place].from < until; ++place) {
            if (!waits_for(spans[place], QueueRole::Host) || spans[place].until <= now_) continue;
            spend(reason, std::min(spans[place].from, until), wait_.tag);
            spend(NonMatrixReason::Host, std::min(spans[place].until, until), wait_.tag);
        }
        spend(reason, until, wait_.tag);
    }

    /// Cycles in which an exchange with other cores was awaited; those before it began have this reason.
    void spend_on_exchanges(Cycle until, NonMatrixReason before) {
        const auto& spans = history_.exchanges_.spans();
        while (first_exchange_ < spans.size() && spans[first_exchange_].complete <= now_) ++first_exchange_;
        for (std::size_t place = first_exchange_; place < spans.size() && spans[place].from < until;
             ++place) {
            const UnitHistory::Span& span = spans[place];
            if (!is_work(span) || span.complete <= now_) continue;
            spend(before, std::min(span.from, until), wait_.tag);
            spend(NonMatrixReason::Collective, std::min(span.complete, until), span.tag);
        }
        spend(before, until, wait_.tag);
    }

    /// Cycles in which an instruction was missing that had not been issued.
    void not_issued_until(Cycle end) {
        if (wait_.begin == 0) return spend(NonMatrixReason::ProgramBegin, end, wait_.tag);
        const RingQueue<NotIssued>& spans = history_.not_issued_;
        while (first_issue_ < spans.size() && spans[first_issue_].until <= now_) ++first_issue_;
        for (std::size_t place = first_issue_; place < spans.size() && spans[place].from < end; ++place) {
            spend(NonMatrixReason::Issue, spans[place].from, wait_.tag);
            const Cycle until = std::min(spans[place].until, end);
            if (!spans[place].full) {
                spend(NonMatrixReason::NotArrived, until, wait_.tag);
            } else {
                const QueueRole full = history_.role_of(*spans[place].full);
                if (full == QueueRole::WorksOnRows) activation_held_up(until);
                if (full == QueueRole::Delivers) spend_on_reads(NonMatrixReason::QueueFull, until);
                if (full == QueueRole::Exchanges) spend_on_exchanges(until, NonMatrixReason::QueueFull);
                if (full == QueueRole::Host) spend(NonMatrixReason::Host, until, wait_.tag);
                spend(NonMatrixReason::QueueFull, until, wait_.tag);
            }
        }
        spend(NonMatrixReason::Issue, end, wait_.tag);
    }

    /// The queue of the unit that works on rows was full: what kept the unit from taking the next
    /// instruction, if that was vector work or the output buffer.
    void activation_held_up(Cycle end) {
        const auto& spans = history_.activation_.spans();
        while (first_work_ < spans.size() && spans[first_work_].until <= now_) ++first_work_;
        for (std::size_t place = first_work_; place < spans.size() && spans[place].from < end; ++place) {
            const UnitHistory::Span& span = spans[place];
            const bool fetching = waits_for(span, QueueRole::Fetches);
            const bool reading = waits_for(span, QueueRole::Delivers);
            if (span.activity != Activity::VectorWork && !fetching && !reading) continue;
            spend(NonMatrixReason::QueueFull, std::min(span.from, end), wait_.tag);
            if (reading) {
                spend_on_reads(NonMatrixReason::QueueFull, std::min(span.until, end));
            } else if (fetching) {
                spend(NonMatrixReason::OutputBuffer, std::min(span.until, end), wait_.tag);
            } else {
                spend(NonMatrixReason::VectorWork, std::min(span.until, end), span.tag);
            }
        }
    }

    void spend(NonMatrixReason reason, Cycle until, Tag tag) {
        if (until <= now_) return;
        count_(reason, until - now_, tag);
        now_ = until;
    }

    const WaitHistory& history_;
    const Wait& wait_;
    const Count& count_;
    Cycle now_;  ///< the cycles before it are counted
    // Spans before these are over, and stay so: the explanation only goes on in time.
    std::size_t first_work_ = 0;  ///< of the activation unit
    std::size_t first_read_ = 0;
    std::size_t first_exchange_ = 0;
    std::size_t first_issue_ = 0;
};

void WaitHistory::set_role(isa::QueueId queue, QueueRole role) {
    roles_.at(static_cast<std::size_t>(queue)) = role;
    is_fed_ = is_fed_ || role == QueueRole::Feeds;
}

WaitHistory::Unmet WaitHistory::unmet(const Wait& wait) const {
    const auto cycles = [&](const UnitHistory& unit, isa::Position position) {
        return std::clamp(complete(unit, position), wait.begin, wait.end) - wait.begin;
    };
    const Cycle own = std::clamp(wait.needs.own_writes, wait.begin, wait.end) - wait.begin;
    return {.activations = std::max({cycles(activation_, wait.needs.activations),
                                     cycles(cross_lane_, wait.needs.cross_lane), own}),
            .inputs = cycles(inputs_, wait.needs.inputs)};
}

void WaitHistory::explain(const Wait& wait, const Count& count) const {
    Explanation explanation(*this, wait, count);
    explanation.wait_for(activation_, wait.needs.activations, NonMatrixReason::Raw);
    explanation.wait_for(cross_lane_, wait.needs.cross_lane, NonMatrixReason::Raw);
    explanation.wait_for_own_writes();
    explanation.wait_for(exchanges_, wait.needs.exchanges, NonMatrixReason::Collective);
    explanation.wait_for(inputs_, wait.needs.inputs, NonMatrixReason::Input);
    explanation.wait_for(activation_, wait.needs.accumulators, NonMatrixReason::Accumulators);
    explanation.wait_for(outputs_, wait.needs.outputs, NonMatrixReason::OutputBuffer);
    explanation.wait_for_issue();
    explanation.wait_for_rest();
}

void WaitHistory::explain_end(Cycle begin, Cycle end, Tag tag, const Count& count) const {
    struct Work {
        Cycle from = 0;
        Cycle until = 0;
        NonMatrixReason reason = NonMatrixReason::Host;
        Tag tag = 0;
    };
    const auto add = [&](std::vector<Work>& work, const UnitHistory& unit, Activity activity,
                         NonMatrixReason reason) {
        for (std::size_t place = 0; place < unit.spans().size(); ++place) {
            const UnitHistory::Span& span = unit.spans()[place];
            if (span.activity != activity || span.complete <= begin) continue;
            work.push_back({.from = span.from,
                            .until = span.complete,
                            .reason = reason,
                            .tag = reason == NonMatrixReason::Host ? tag : span.tag});
        }
    };
    std::vector<Work> work;
    std::vector<Work> exchanges;
    add(work, host_, Activity::Work, NonMatrixReason::Host);
    if (is_fed_) {
        add(work, activation_, Activity::VectorWork, NonMatrixReason::VectorWork);
        add(work, cross_lane_, Activity::VectorWork, NonMatrixReason::VectorWork);
        std::ranges::stable_sort(work, {}, &Work::from);
        add(exchanges, exchanges_, Activity::Work, NonMatrixReason::Collective);
    }
    Cycle now = begin;
    const auto spend = [&](NonMatrixReason reason, Cycle until, Tag owner) {
        if (until <= now) return;
        count(reason, until - now, owner);
        now = until;
    };
    // Exchanges have the cycles without other work.
    const auto spend_others = [&](Cycle until) {
        for (const Work& each : exchanges) {
            spend(NonMatrixReason::ProgramEnd, std::min(each.from, until), tag);
            spend(each.reason, std::min(each.until, until), each.tag);
        }
        spend(NonMatrixReason::ProgramEnd, until, tag);
    };
    for (const Work& each : work) {
        spend_others(std::min(each.from, end));
        spend(each.reason, std::min(each.until, end), each.tag);
    }
    spend_others(end);
}

void WaitHistory::forget(Cycle cycle) {
    inputs_.forget(cycle);
    host_.forget(cycle);
    activation_.forget(cycle);
    cross_lane_.forget(cycle);
    outputs_.forget(cycle);
    exchanges_.forget(cycle);
    while (!not_issued_.empty() && not_issued_.front().until <= cycle) not_issued_.pop_front();
}

}  // namespace systole::hw
