#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/record/record.h"

namespace systole::figures {

using Json = nlohmann::ordered_json;

/// What a figure is computed from: the counters and outputs of a record, and the files of the run. Nothing
/// here calls what makes reports.
class Facts {
public:
    /// A run of the same files with settings, "KEY=VALUE".
    struct Change {
        std::vector<std::string> settings;
        run::RunRecord record;
    };

    /// The machine's and the baselines' files are those that the run was given.
    struct Files {
        Json machine;
        std::vector<Json> baselines;
        Json host;  ///< the baseline that does the host's work
        Json run;   ///< keys of the run
        Json network;
        std::vector<std::uint32_t> labels;
        std::array<std::uint32_t, 2> picture = {};  ///< height and width, one channel
        std::string scaled_input;  ///< whose pixels a layer of the network scales; empty: none
        std::string scaling_layer;
        std::vector<Change> changes;  ///< that the explanation simulated; the first is the run itself
    };

    Facts(const run::RunRecord& record, Files files, Json report)
        : record_(record), files_(std::move(files)), report_(std::move(report)) {}

    const run::RunRecord& record() const { return record_; }
    const Files& files() const { return files_; }
    const Json& report() const { return report_; }

    /// A key of the machine's file: "matrix_unit.rows".
    const Json& machine(std::string_view key) const { return at(files_.machine, key); }
    double number(std::string_view key) const { return machine(key).get<double>(); }
    bool has(std::string_view key) const { return find(files_.machine, key) != nullptr; }
    /// 0 where the file does not have it.
    double number_or_0(std::string_view key) const { return has(key) ? number(key) : 0.0; }

    /// A counter of the chip, in all or under the tag of a layer.
    std::uint64_t count(std::string_view path, std::optional<run::Tag> tag = {}) const {
        for (const run::Counter& counter : record_.counters.all) {
            if (counter.path != path) continue;
            std::uint64_t sum = 0;
            for (std::size_t i = 0; i < counter.by_tag.size(); ++i) {
                if (!tag || *tag == i) sum += counter.by_tag[i];
            }
            return sum;
        }
        throw std::logic_error("there is no counter " + std::string(path));
    }

    std::uint64_t inferences() const { return record_.program.inferences; }
    std::uint64_t batches() const {
        const std::uint64_t batch = record_.program.batch;
        return batch == 0 ? 0 : (inferences() + batch - 1) / batch;
    }
    double clock_hz() const { return std::round(number("clock_mhz") * 1e6); }
    double seconds(std::uint64_t cycles) const { return static_cast<double>(cycles) / clock_hz(); }
    double seconds() const { return seconds(record_.cycles); }

    std::uint64_t rows() const { return machine("matrix_unit.rows").get<std::uint64_t>(); }
    std::uint64_t columns() const { return machine("matrix_unit.columns").get<std::uint64_t>(); }

    /// Whether the machine has tiles, not an array.
    bool has_tiles() const { return has("family") && machine("family") == "edge_tpu"; }

    bool is_dram() const { return has("weight_memory.dram"); }
    /// Bytes a second of weight memory: of a DRAM, two transfers a clock over the buses of all channels.
    double weight_bytes_per_second() const {
        if (!is_dram()) return number("weight_memory.bandwidth_gb_per_s") * 1e9;
        return number("weight_memory.dram.channels") * number("weight_memory.dram.bus_bits") / 8.0 * 2.0 /
               (number("weight_memory.dram.clock_ns") * 1e-9);
    }

    /// Multiply-accumulates of an inference on the chip.
    std::uint64_t network_macs() const {
        std::uint64_t sum = 0;
        for (const run::LayerFacts& layer : record_.program.layers) sum += layer.macs;
        return sum;
    }
    /// Multiply-accumulates of an inference on the host, by layer.
    std::vector<std::pair<std::string, std::uint64_t>> host_macs() const {
        std::vector<std::pair<std::string, std::uint64_t>> layers;
        for (const run::SegmentWork& segment : record_.host_segments) {
            for (std::size_t i = 0; i < segment.macs.size(); ++i) {
                if (segment.macs[i] > 0) layers.emplace_back(segment.layers[i], segment.macs[i]);
            }
        }
        return layers;
    }
    std::uint64_t sum_of_host_macs() const {
        std::uint64_t sum = 0;
        for (const auto& [layer, macs] : host_macs()) sum += macs;
        return sum;
    }
    /// The chip has work of its own: otherwise no figure says how fast it is. A layer of the network computes
    /// on it, and not all multiply-accumulates are the host's.
    bool chip_computes() const {
        if (inferences() == 0) return true;
        if (sum_of_host_macs() > 0 && network_macs() == 0) return false;
        for (std::size_t number = 1; number <= layers(); ++number) {
            const auto tag = static_cast<run::Tag>(number);
            if (record_.program.layers[number - 1].kind == "host") continue;
            const std::uint64_t busy = has_tiles() ? count("tile_array.busy_cycles", tag)
                                                   : count("matrix_unit.active_cycles", tag) +
                                                         count("activation_unit.busy_cycles", tag);
            if (busy > 0) return true;
        }
        return false;
    }

    /// Multiply-accumulates that the run needs, of a layer or in all. A program that states none needs those
    /// that it does.
    std::uint64_t needed_macs(std::optional<run::Tag> tag = {}) const {
        if (network_macs() * inferences() == 0) return count(macs_counter(), tag);
        if (!tag) return network_macs() * inferences();
        return *tag == 0 || *tag > layers() ? 0 : record_.program.layers[*tag - 1U].macs * inferences();
    }

    /// Multiply-accumulates that the chip does.
    const char* macs_counter() const {
        return has_tiles() ? "tile_array.work.useful_macs" : "matrix_unit.multiply_accumulates";
    }
    /// Those of all cells, or of all lanes with 4 elements each, in a cycle.
    std::uint64_t macs_a_cycle() const {
        if (!has_tiles()) return rows() * columns();
        return 4 * machine("tile_array.lines").get<std::uint64_t>() *
               machine("tile_array.columns").get<std::uint64_t>() *
               machine("tile_array.lanes").get<std::uint64_t>();
    }

    std::size_t layers() const { return record_.program.layers.size(); }
    /// The tags that report.json lists: the network's layers, then other tags with work, (outside layers)
    /// last.
    std::vector<run::Tag> tags() const {
        std::vector<run::Tag> listed;
        for (std::size_t tag = 1; tag <= layers(); ++tag) listed.push_back(static_cast<run::Tag>(tag));
        const std::size_t program = record_.program.tags.size();
        for (std::size_t tag = layers() + 1; tag < program; ++tag) {
            if (has_work(static_cast<run::Tag>(tag))) listed.push_back(static_cast<run::Tag>(tag));
        }
        if (has_work(0)) listed.push_back(0);
        return listed;
    }
    run::Tag tag(std::size_t layer) const { return tags().at(layer); }

    /// Cycles of the matrix unit, or of the tiles: each is of one of four classes.
    std::uint64_t cycles(std::optional<run::Tag> tag = {}) const {
        if (has_tiles()) {
            return count("tile_array.busy_cycles", tag) + count("tile_array.ring_stall_cycles", tag) +
                   count("tile_array.sync_cycles", tag) + count("tile_array.idle_cycles", tag);
        }
        return count("matrix_unit.active_cycles", tag) + count("matrix_unit.weight_stall_cycles", tag) +
               count("matrix_unit.weight_shift_cycles", tag) + count("matrix_unit.non_matrix_cycles", tag);
    }

    /// The value at a dotted key; null where there is none.
    static const Json* find(const Json& object, std::string_view key) {
        const Json* place = &object;
        while (true) {
            const std::size_t dot = key.find('.');
            const std::string name(key.substr(0, dot));
            if (!place->is_object() || !place->contains(name)) return nullptr;
            place = &place->at(name);
            if (dot == std::string_view::npos) return place;
            key.remove_prefix(dot + 1);
        }
    }
    static const Json& at(const Json& object, std::string_view key) {
        const Json* const found = find(object, key);
        if (found == nullptr) throw std::logic_error("the file has no key " + std::string(key));
        return *found;
    }

private:
    /// Whether any unit did something under the tag.
    bool has_work(run::Tag tag) const {
        if (cycles(tag) > 0) return true;
        for (const run::Counter& counter : record_.counters.all) {
            if (tag < counter.by_tag.size() && counter.by_tag[tag] > 0) return true;
        }
        return false;
    }

    const run::RunRecord& record_;
    Files files_;
    Json report_;
};

}  // namespace systole::figures
