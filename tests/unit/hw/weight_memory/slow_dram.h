#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hw/machine/dram_config.h"

namespace systole::tests {

/// One channel of a DRAM, directly by the definition of the timing parameters: a log of all commands, and the
/// rules between each two of them. Every command is tried clock by clock until no rule forbids it.
class SlowDramChannel {
public:
    explicit SlowDramChannel(const machine::DramConfig& dram) : dram_(dram), due_(dram.trefi_clocks) {}

    struct Counts {
        std::uint64_t reads = 0, hits = 0, activations = 0, refreshes = 0;
        std::uint64_t data = 0, row = 0, refresh = 0, gap = 0, idle = 0;

        bool operator==(const Counts&) const = default;
    };

    /// Reads a burst requested in clock `arrival`; returns the clock after its last data.
    std::uint64_t read(std::uint64_t arrival, std::uint64_t bank, std::uint64_t row) {
        for (;;) {
            const std::size_t before = log_.size();
            std::uint64_t seen = arrival;
            if (reads_.size() >= dram_.queue_bursts) {
                seen = std::max(seen, reads_[reads_.size() - dram_.queue_bursts] + 1);
            }
            const bool hit = open_row(bank) == row;
            if (!hit) {
                if (open_row(bank)) issue(Kind::Precharge, bank, 0, seen);
                issue(Kind::Activate, bank, row, seen);
            }
            const std::uint64_t clock =
                issue(Kind::Read, bank, row, reads_.empty() ? arrival : std::max(arrival, reads_.back()));
            if (dram_.trefi_clocks > 0 && clock >= due_) {
                log_.resize(before);  // the controller does not begin what a refresh interrupts
                refresh();
                continue;
            }
            if (!hit) ++counts.activations;
            account(arrival, clock);
            reads_.push_back(clock);
            ++counts.reads;
            counts.hits += hit ? 1 : 0;
            return clock + dram_.cl_clocks + dram_.burst_length / 2;
        }
    }

    Counts counts;

private:
    enum class Kind : std::uint8_t { Activate, Read, Precharge, Refresh };
    struct Command {
        Kind kind;
        std::uint64_t bank;
        std::uint64_t row;
        std::uint64_t clock;
    };

    std::optional<std::uint64_t> open_row(std::uint64_t bank) const {
        for (auto command = log_.rbegin(); command != log_.rend(); ++command) {
            if (command->kind == Kind::Refresh) return {};
            if (command->bank != bank) continue;
            if (command->kind == Kind::Precharge) return {};
            if (command->kind == Kind::Activate) return command->row;
        }
        return {};
    }

    /// The clocks that a command of this kind and bank must wait after `earlier`; nullopt if there is no rule
    /// between them.
    std::optional<std::uint32_t> distance(const Command& earlier, Kind kind, std::uint64_t bank) const {
        const bool same = earlier.bank == bank;
        switch (earlier.kind) {
            case Kind::Activate:
                if (kind == Kind::Activate) return std::max(dram_.trrd_clocks, same ? dram_.trc_clocks : 0);
                if (kind == Kind::Read && same) return dram_.trcd_clocks;
                if (kind == Kind::Precharge && same) return dram_.tras_clocks;
                if (kind == Kind::Refresh) return dram_.trc_clocks;
                return {};
            case Kind::Read:
                if (kind == Kind::Read) return dram_.tccd_clocks;
                if (kind == Kind::Precharge && same) return dram_.trtp_clocks;
                return {};
            case Kind::Precharge:
                if ((kind == Kind::Activate && same) || kind == Kind::Refresh) return dram_.trp_clocks;
                return {};
            case Kind::Refresh:
                if (kind == Kind::Activate || kind == Kind::Refresh) return dram_.trfc_clocks;
                return {};
        }
        throw std::logic_error("a command without rules");
    }

    bool allowed(Kind kind, std::uint64_t bank, std::uint64_t clock) const {
        std::uint64_t in_window = 0;
        for (auto earlier = log_.rbegin(); earlier != log_.rend(); ++earlier) {
            const std::optional<std::uint32_t> wait = distance(*earlier, kind, bank);
            if (wait && clock < earlier->clock + *wait) return false;
            if (kind != Kind::Activate || earlier->kind != Kind::Activate) continue;
            if (clock < earlier->clock + dram_.tfaw_clocks && ++in_window == 4) return false;
        }
        return true;
    }

    std::uint64_t issue(Kind kind, std::uint64_t bank, std::uint64_t row, std::uint64_t clock) {
        while (!allowed(kind, bank, clock)) ++clock;
        log_.push_back({.kind = kind, .bank = bank, .row = row, .clock = clock});
        return clock;
    }

    void refresh() {
        std::vector<std::uint64_t> open;
        for (std::uint64_t bank = 0; bank < dram_.banks; ++bank) {
            if (open_row(bank)) open.push_back(bank);
        }
        // One command closes all banks: when it is allowed for each.
        std::uint64_t clock = due_;
        const auto all_allowed = [&] {
            return std::all_of(open.begin(), open.end(),
                               [&](std::uint64_t bank) { return allowed(Kind::Precharge, bank, clock); });
        };
        while (!all_allowed()) ++clock;
        for (const std::uint64_t bank : open) {
            log_.push_back({.kind = Kind::Precharge, .bank = bank, .row = 0, .clock = clock});
        }
        refreshed_ = issue(Kind::Refresh, 0, 0, due_) + dram_.trfc_clocks;
        due_ += dram_.trefi_clocks;
        ++counts.refreshes;
    }

    /// Counts the cause of each clock between the previous read and this one.
    void account(std::uint64_t arrival, std::uint64_t clock) {
        const std::uint64_t burst = dram_.burst_length / 2;
        std::uint64_t now = reads_.empty() ? 0 : reads_.back() + burst;
        for (; now < clock; ++now) {
            if (now < arrival) {
                ++counts.idle;
            } else if (!reads_.empty() && now < reads_.back() + dram_.tccd_clocks) {
                ++counts.gap;
            } else if (now < refreshed_) {
                ++counts.refresh;
            } else {
                ++counts.row;
            }
        }
        counts.data += burst;
    }

    const machine::DramConfig dram_;
    std::vector<Command> log_;
    std::vector<std::uint64_t> reads_;  ///< the clock of each
    std::uint64_t due_;
    std::uint64_t refreshed_ = 0;
};

/// All channels, byte by byte and cycle by cycle.
class SlowDram {
public:
    SlowDram(const machine::DramConfig& dram, std::uint64_t core_hz, std::uint64_t latency)
        : dram_(dram),
          clock_fs_hz_(static_cast<std::uint64_t>(std::llround(dram.clock_ns * 1e6)) * core_hz),
          latency_(latency),
          channels_(dram.channels, SlowDramChannel(dram)) {}

    std::uint64_t read(std::uint64_t address, std::uint64_t bytes, std::uint64_t issued) {
        while (Wide{arrival_} * clock_fs_hz_ < Wide{issued + latency_} * second_fs) ++arrival_;
        std::uint64_t end = arrival_;
        std::vector<std::optional<std::uint64_t>> last(dram_.channels);  // the burst read last
        for (std::uint64_t byte = address; byte < address + bytes; ++byte) {
            const std::uint64_t channel = byte / dram_.channel_interleave_bytes % dram_.channels;
            const std::uint64_t mine =
                byte / (dram_.channel_interleave_bytes * dram_.channels) * dram_.channel_interleave_bytes +
                byte % dram_.channel_interleave_bytes;
            const std::uint64_t burst = mine / dram_.burst_bytes();
            if (last[channel] == burst) continue;
            last[channel] = burst;
            const std::uint64_t turn = dram_.bank_interleave_bytes * dram_.banks;
            const std::uint64_t in_bank =
                mine / turn * dram_.bank_interleave_bytes + mine % dram_.bank_interleave_bytes;
            end = std::max(end, channels_[channel].read(arrival_, mine % turn / dram_.bank_interleave_bytes,
                                                        in_bank / dram_.row_bytes));
        }
        std::uint64_t cycle = issued;
        while (Wide{cycle + 1} * second_fs <= Wide{end} * clock_fs_hz_) ++cycle;
        return cycle;
    }

    const std::vector<SlowDramChannel>& channels() const { return channels_; }

private:
    // NOLINTNEXTLINE(modernize-use-using): __extension__ goes with typedef alone.
    __extension__ typedef unsigned __int128 Wide;
    static constexpr std::uint64_t second_fs = 1'000'000'000'000'000;

    const machine::DramConfig dram_;
    const std::uint64_t clock_fs_hz_;
    const std::uint64_t latency_;
    std::uint64_t arrival_ = 0;
    std::vector<SlowDramChannel> channels_;
};

}  // namespace systole::tests
