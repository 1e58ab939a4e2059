#include "hw/weight_memory/dram_channel.h"

#include <algorithm>

#include "base/arithmetic.h"

namespace systole::hw {

MemoryClockNumber DramChannel::read(MemoryClockNumber arrival, DramAddressMap::Piece piece, Tag tag) {
    Bank& bank = banks_[piece.bank];
    for (;;) {
        const bool hit = bank.open && bank.row == piece.row;
        MemoryClockNumber first = std::max(arrival, read_from_);
        Opening opening;
        if (!hit) {
            opening = plan(bank, seen_from(arrival));
            first = std::max(first, opening.activate + dram_.trcd_clocks);
        }
        if (due(first)) {
            refresh(arrival, tag);
            continue;
        }
        if (!hit) {
            open(bank, piece.row, opening);
            counters_.row_activations.add(1, tag);
        }
        std::uint64_t bursts = piece.bursts;
        if (dram_.trefi_clocks > 0) {
            const std::uint64_t before_refresh =
                divide_up(next_refresh_ - first, std::uint64_t{dram_.tccd_clocks});
            bursts = std::min(bursts, before_refresh);
        }
        const MemoryClockNumber last = first + (bursts - 1) * dram_.tccd_clocks;
        bank.precharge_from = std::max(bank.precharge_from, last + dram_.trtp_clocks);

        spend(counters_.idle_clocks, arrival, tag);
        spend(counters_.gap_clocks, read_from_, tag);
        spend(counters_.refresh_clocks, refreshed_, tag);
        spend(counters_.row_clocks, first, tag);
        counters_.data_clocks.add(bursts * dram_.burst_clocks(), tag);
        counters_.gap_clocks.add((bursts - 1) * (dram_.tccd_clocks - dram_.burst_clocks()), tag);
        spent_ = last + dram_.burst_clocks();
        counters_.reads.add(bursts, tag);
        counters_.row_hits.add(hit ? bursts : bursts - 1, tag);

        record(first, bursts);
        read_from_ = last + dram_.tccd_clocks;
        piece.bursts -= bursts;
        if (piece.bursts == 0) return last + dram_.cl_clocks + dram_.burst_clocks();
    }
}

void DramChannel::finish(MemoryClockNumber end, Tag tag) {
    if (end > 0 && due(end - 1)) refresh(end - 1, tag);
    spend(counters_.idle_clocks, end, tag);
}

/// The clock from which the controller sees the next burst: it has been requested, and the burst
/// `queue_bursts` before it has left the queue.
MemoryClockNumber DramChannel::seen_from(MemoryClockNumber arrival) const {
    if (bursts_ < dram_.queue_bursts) return arrival;
    const Run& run = runs_.front();  // `record` keeps enough runs that the oldest one contains it
    const MemoryClockNumber left =
        run.first + (bursts_ - dram_.queue_bursts - run.number) * dram_.tccd_clocks;
    return std::max(arrival, left + 1);
}

DramChannel::Opening DramChannel::plan(const Bank& bank, MemoryClockNumber seen) const {
    Opening opening;
    MemoryClockNumber closed = bank.activate_from;
    if (bank.open) {
        opening.precharge = std::max(seen, bank.precharge_from);
        closed = std::max(closed, opening.precharge + dram_.trp_clocks);
    }
    opening.activate = std::max({seen, closed, activate_from_, window_[oldest_activation_]});
    return opening;
}

void DramChannel::open(Bank& bank, std::uint64_t row, const Opening& opening) {
    bank.open = true;
    bank.row = row;
    bank.precharge_from = opening.activate + dram_.tras_clocks;
    bank.activate_from = opening.activate + dram_.trc_clocks;
    activate_from_ = opening.activate + dram_.trrd_clocks;
    window_[oldest_activation_] = opening.activate + dram_.tfaw_clocks;
    oldest_activation_ = (oldest_activation_ + 1) % window_.size();
}

void DramChannel::refresh(MemoryClockNumber clock, Tag tag) {
    // One command closes all banks, in the first clock in which all may be closed.
    MemoryClockNumber precharge = next_refresh_;
    for (const Bank& bank : banks_) {
        if (bank.open) precharge = std::max(precharge, bank.precharge_from);
    }
    MemoryClockNumber begin = next_refresh_;
    for (Bank& bank : banks_) {
        if (bank.open) begin = std::max(begin, precharge + dram_.trp_clocks);
        begin = std::max(begin, bank.activate_from);
        bank.open = false;
    }
    refreshed_ = begin + dram_.trfc_clocks;
    std::uint64_t refreshes = 1;
    // During refreshes without reads, all banks are closed and the previous refresh is over.
    if (clock >= next_refresh_ + dram_.trefi_clocks) {
        const std::uint64_t more = (clock - next_refresh_) / dram_.trefi_clocks;
        next_refresh_ += more * dram_.trefi_clocks;
        refreshed_ = next_refresh_ + dram_.trfc_clocks;
        refreshes += more;
    }
    next_refresh_ += dram_.trefi_clocks;
    activate_from_ = std::max(activate_from_, refreshed_);
    counters_.refreshes.add(refreshes, tag);
}

void DramChannel::record(MemoryClockNumber first, std::uint64_t bursts) {
    if (!runs_.empty() && runs_.back().first + runs_.back().bursts * dram_.tccd_clocks == first) {
        runs_.back().bursts += bursts;
    } else {
        runs_.push_back({.number = bursts_, .first = first, .bursts = bursts});
    }
    bursts_ += bursts;
    while (bursts_ >= dram_.queue_bursts &&
           runs_.front().number + runs_.front().bursts <= bursts_ - dram_.queue_bursts) {
        runs_.pop_front();
    }
}

void DramChannel::spend(Counter& on, MemoryClockNumber until, Tag tag) {
    if (until <= spent_) return;
    on.add(until - spent_, tag);
    spent_ = until;
}

}  // namespace systole::hw
