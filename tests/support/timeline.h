#pragma once

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace systole::tests {

/// Nanoseconds as timeline viewers read them: microseconds times 1000, without the fraction.
inline std::int64_t nanoseconds_of(const nlohmann::json& microseconds) {
    return static_cast<std::int64_t>(microseconds.get<double>() * 1000.0);
}

/// A timeline read back.
struct ReadTimeline {
    struct Slice {
        std::string name;
        std::uint64_t begin = 0;  ///< cycles
        std::uint64_t end = 0;
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
        nlohmann::json args;
    };
    struct FlowEnd {
        std::string phase;
        std::string track;
        std::int64_t at_ns = 0;
    };

    nlohmann::json whole;
    std::map<std::string, std::vector<Slice>> tracks;           ///< by name; slices by their begin
    std::map<std::string, std::vector<std::int64_t>> counters;  ///< samples by "name series", in their order
    std::map<std::uint64_t, std::vector<FlowEnd>> flows;

    /// Cycles of the slices of that name on a track.
    std::uint64_t cycles(const std::string& track, const std::string& name) const {
        std::uint64_t sum = 0;
        for (const Slice& slice : tracks.at(track)) sum += slice.name == name ? slice.end - slice.begin : 0;
        return sum;
    }
    /// The sum of a number in the details of a track's slices.
    std::uint64_t sum(const std::string& track, const std::string& key) const {
        std::uint64_t sum = 0;
        for (const Slice& slice : tracks.at(track)) sum += slice.args.value(key, std::uint64_t{0});
        return sum;
    }
    std::int64_t last(const std::string& counter) const {
        const auto found = counters.find(counter);
        return found == counters.end() ? 0 : found->second.back();
    }
};

inline std::string gunzipped(const std::filesystem::path& path) {
    const gzFile file = gzopen(path.c_str(), "rb");
    REQUIRE(file != nullptr);
    std::string text;
    std::vector<char> piece(1U << 16U);
    for (int count = 0; (count = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0;) {
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
    const int end = gzeof(file);
    CHECK(gzclose(file) == Z_OK);
    CHECK(end == 1);
    return text;
}

inline ReadTimeline read_timeline(const std::filesystem::path& path) {
    ReadTimeline read;
    read.whole = nlohmann::json::parse(gunzipped(path));
    std::map<std::uint64_t, std::string> names;
    for (const nlohmann::json& event : read.whole.at("traceEvents")) {
        const std::string phase = event.at("ph");
        if (phase == "M" && event.at("name") == "thread_name") {
            names[event.at("tid")] = event.at("args").at("name");
            read.tracks[event.at("args").at("name")];
        } else if (phase == "X") {
            const std::int64_t begin = nanoseconds_of(event.at("ts"));
            const nlohmann::json& args = event.at("args");
            const std::uint64_t cycle = args.at("cycle");
            read.tracks[names.at(event.at("tid"))].push_back(
                {event.at("name"), cycle, cycle + args.at("cycles").get<std::uint64_t>(), begin,
                 begin + nanoseconds_of(event.at("dur")), args});
        } else if (phase == "C") {
            for (const auto& [series, value] : event.at("args").items()) {
                read.counters[event.at("name").get<std::string>() + " " + series].push_back(
                    value.get<std::int64_t>());
            }
        } else if (phase != "M") {
            read.flows[event.at("id")].push_back(
                {phase, names.at(event.at("tid")), nanoseconds_of(event.at("ts"))});
        }
    }
    for (auto& [name, slices] : read.tracks) {
        std::stable_sort(slices.begin(), slices.end(),
                         [](const auto& a, const auto& b) { return a.begin < b.begin; });
    }
    return read;
}

/// Two slices of a track that overlap, in cycles or in nanoseconds, in a line.
inline std::optional<std::string> overlap(const ReadTimeline& timeline) {
    for (const auto& [track, slices] : timeline.tracks) {
        for (std::size_t i = 1; i < slices.size(); ++i) {
            const auto& one = slices[i - 1];
            const auto& next = slices[i];
            if (one.end <= next.begin && one.end_ns <= next.begin_ns) continue;
            return fmt::format("{}: {} in cycles {} to {} and {} from {}", track, one.name, one.begin,
                               one.end, next.name, next.begin);
        }
    }
    return std::nullopt;
}

/// An arrow that does not lead from a fetch over a shift to a multiply, or whose ends are not in slices.
inline std::optional<std::string> broken_flow(const ReadTimeline& timeline) {
    const std::vector<std::pair<std::string, std::string>> ends{
        {"s", "weight memory"}, {"t", "weight shift"}, {"f", "matrix unit"}};
    for (const auto& [id, flow] : timeline.flows) {
        if (flow.size() != ends.size()) return fmt::format("arrow {} has {} parts", id, flow.size());
        for (std::size_t i = 0; i < flow.size(); ++i) {
            const auto& part = flow[i];
            const auto& slices = timeline.tracks.at(part.track);
            const bool is_in_slice = std::any_of(slices.begin(), slices.end(), [&](const auto& slice) {
                return slice.begin_ns <= part.at_ns && part.at_ns <= slice.end_ns;
            });
            if (part.phase != ends[i].first || part.track != ends[i].second || !is_in_slice) {
                return fmt::format("arrow {}: {} on {} at {} ns", id, part.phase, part.track, part.at_ns);
            }
        }
    }
    return std::nullopt;
}

}  // namespace systole::tests
