#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/cycle.h"
#include "hw/common/clock.h"
#include "hw/common/ring_queue.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

/// Requests of several senders for one thing, served by cycle, and in one cycle by the number of the sender;
/// those of one sender in their order. The order in which the kernel runs the senders' processes makes no
/// difference: with several senders, a request is served when its cycle is over, and its answer is two cycles
/// later than the request or more, so that nobody needs it before it is known. With one, it is served at
/// once.
template <class Request>
class OrderedRequests {
public:
    OrderedRequests(std::size_t senders, const Clock& clock) : clock_(clock), answers_(senders) {}

    /// `serve(request, cycle)` serves a request of that cycle, and returns the answer: a cycle.
    template <class Serve>
    void add(std::size_t sender, const Request& request, const Serve& serve) {
        if (answers_.size() == 1) {
            answers_.front().push_back(serve(request, clock_.now()));
        } else {
            waiting_.push_back({clock_.now(), sender, request});
        }
    }

    /// Serves those of this cycle and of earlier ones; no more of them may come.
    template <class Serve>
    void serve_until(Cycle cycle, const Serve& serve) {
        if (waiting_.empty()) return;
        const auto later = std::stable_partition(waiting_.begin(), waiting_.end(),
                                                 [&](const Waiting& each) { return each.at <= cycle; });
        std::stable_sort(waiting_.begin(), later, [](const Waiting& a, const Waiting& b) {
            return a.at != b.at ? a.at < b.at : a.sender < b.sender;
        });
        std::for_each(waiting_.begin(), later, [&](const Waiting& each) {
            answers_[each.sender].push_back(
                std::max(serve(each.request, each.at), each.at + timing::least_shared_answer));
        });
        waiting_.erase(waiting_.begin(), later);
    }

    /// The answer to the first of the sender's requests whose answer has not been taken. Waits until that has
    /// been served.
    template <class Serve>
    Cycle take(std::size_t sender, const Serve& serve) {
        RingQueue<Cycle>& own = answers_[sender];
        if (own.empty() && clock_.now() > 0) serve_until(clock_.now() - 1, serve);
        while (own.empty()) {
            clock_.wait_until(clock_.now() + 1);
            serve_until(clock_.now() - 1, serve);
        }
        const Cycle answer = own.front();
        own.pop_front();
        return answer;
    }

private:
    struct Waiting {
        Cycle at = 0;
        std::size_t sender = 0;
        Request request;
    };

    const Clock& clock_;
    std::vector<RingQueue<Cycle>> answers_;  ///< by sender, not taken
    std::vector<Waiting> waiting_;
};

}  // namespace systole::hw
