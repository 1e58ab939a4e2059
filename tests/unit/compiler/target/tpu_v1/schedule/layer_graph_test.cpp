#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/order_steps.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "tests/support/network_builder.h"
#include "tests/support/random_layers.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/small_schedules.h"

namespace systole::tpu_v1 {
namespace {

using tests::NetworkBuilder;
using Before = std::vector<std::vector<std::uint32_t>>;

/// A plan in which no two tensors have rows in common; tensors lie where a test puts them.
Schedule planned_apart(const Network& network) {
    Schedule schedule = tests::planned(network, tests::target_of(tests::small_machine()));
    std::uint32_t next = schedule.constant_rows;
    for (TensorPlacement& tensor : schedule.memory.tensors) {
        tensor.row = next;
        next += tensor.image_rows * tensor.images;
    }
    return schedule;
}

/// Executes layers and knows whose bytes are in each row of the unified buffer.
class Rows {
public:
    Rows(const Network& network, const Schedule& schedule)
        : network_(network),
          schedule_(schedule),
          parts_(analyse(network, schedule.target).parts),
          rows_(schedule.memory.rows) {
        for (const HostPart& part : schedule.memory.inputs) write(part.tensor);
        // What the host has is fetched in the layer of its segment; a tensor without rows is always whole.
    }

    /// Computes a layer and those that are joined to it. Whether all that they read is there.
    bool compute(std::uint32_t layer) {
        if (schedule_.layers[layer].joined_to) return true;
        bool is_there = true;
        std::vector<std::uint32_t> together;
        for (std::uint32_t l = layer; l < network_.layers.size(); ++l) {
            if (schedule_.layers[l].joined_to.value_or(l) == layer) together.push_back(l);
        }
        for (const std::uint32_t l : together) {
            for (const TensorId input : network_.layers[l].inputs) is_there = is_there && holds(input);
        }
        for (const std::uint32_t l : together) {
            for (const TensorId output : outputs_of(network_.layers[l])) write(output);
        }
        return is_there;
    }

    /// Whether the rows of a tensor have its bytes still.
    bool holds(TensorId id) const {
        const auto [first, end] = rows_of(id);
        return std::all_of(rows_.begin() + first, rows_.begin() + end, [&](const Row& row) {
            return row.whole == parts_[id].whole && row.tensors.contains(id);
        });
    }

private:
    struct Row {
        std::optional<TensorId> whole;  ///< whose row it is
        std::set<TensorId> tensors;     ///< those parts of it that have been written
    };

    std::pair<std::ptrdiff_t, std::ptrdiff_t> rows_of(TensorId id) const {
        const TensorPlacement& place = schedule_.memory.tensors[parts_[id].whole];
        return {place.row, place.row + std::ptrdiff_t{place.image_rows} * place.images};
    }
    void write(TensorId id) {
        const auto [first, end] = rows_of(id);
        for (auto row = rows_.begin() + first; row != rows_.begin() + end; ++row) {
            if (row->whole != parts_[id].whole) *row = {.whole = parts_[id].whole, .tensors = {}};
            row->tensors.insert(id);
        }
    }

    const Network& network_;
    const Schedule& schedule_;
    const std::vector<TensorPart> parts_;
    std::vector<Row> rows_;
};

schedule::LayerGraph graph_of(const Network& network, const Schedule& schedule) {
    return layer_graph(analyse(network, schedule.target), schedule);
}

}  // namespace

TEST_CASE("A layer waits for those whose results it reads", "[compiler][schedule][layer_graph]") {
    NetworkBuilder builder({4, 4, 4});
    const TensorId a = builder.lookup(0);    // layer 0
    const TensorId b = builder.lookup(0);    // layer 1
    const TensorId sum = builder.sum(a, b);  // layer 2
    builder.sum(sum, a);                     // layer 3
    const schedule::LayerGraph graph = graph_of(builder.network(), planned_apart(builder.network()));
    CHECK(graph.before == Before{{}, {}, {0, 1}, {0, 2}});
    CHECK(graph.after == Before{{2, 3}, {2}, {3}, {}});
    CHECK(graph.step == std::vector<std::uint32_t>{1, 2, 3, 4});
}

TEST_CASE("A layer waits for the host's segment that makes what it reads, and a segment for its inputs",
          "[compiler][schedule][layer_graph]") {
    NetworkBuilder builder({4, 4, 4});
    const TensorId made = builder.lookup(0);
    const TensorId host = builder.host({made}, {4, 4, 4});
    builder.sum(host, host);
    const schedule::LayerGraph graph = graph_of(builder.network(), planned_apart(builder.network()));
    CHECK(graph.before == Before{{}, {0}, {1}});
}

TEST_CASE("Of two layers that use the same rows and one of which writes them, the first comes first",
          "[compiler][schedule][layer_graph]") {
    NetworkBuilder builder({4, 4, 4});
    const TensorId other = builder.input({4, 4, 4});
    const TensorId a = builder.lookup(0);      // layer 0
    const TensorId b = builder.lookup(other);  // layer 1
    const Schedule apart = planned_apart(builder.network());
    // `moved` lies on the last row of `onto`, or just behind it.
    const auto before = [&](TensorId moved, TensorId onto, bool shares) {
        Schedule schedule = apart;
        const TensorPlacement& place = schedule.memory.tensors[onto];
        REQUIRE(place.images * place.image_rows == 8);
        schedule.memory.tensors[moved].row = place.row + (shares ? 7 : 8);
        return graph_of(builder.network(), schedule).before;
    };
    const Before waits{{}, {0}};
    const Before goes{{}, {}};
    CHECK(graph_of(builder.network(), apart).before == goes);
    SECTION("both write them") {
        CHECK(before(b, a, true) == waits);
        CHECK(before(b, a, false) == goes);
        CHECK(before(a, b, true) == waits);
    }
    SECTION("the second writes what the first reads") {
        CHECK(before(b, 0, true) == waits);
        CHECK(before(b, 0, false) == goes);
    }
    SECTION("the second reads what the first writes") {
        CHECK(before(a, other, true) == waits);
        CHECK(before(a, other, false) == goes);
    }
    SECTION("both read them") {
        CHECK(before(other, 0, true) == goes);
    }
}

TEST_CASE("All images of a slice have rows that layers wait for", "[compiler][schedule][layer_graph]") {
    NetworkBuilder builder({4, 4, 4});
    const TensorId a = builder.lookup(0);
    const TensorId b = builder.lookup(0);
    Schedule schedule = planned_apart(builder.network());
    for (TensorPlacement& place : schedule.memory.tensors) place.images = 3;
    schedule.memory.tensors[0].row = 1000;
    schedule.memory.tensors[a].row = 0;
    schedule.memory.tensors[b].row = 3 * 8 - 1;
    CHECK(graph_of(builder.network(), schedule).before == Before{{}, {0}});
    schedule.memory.tensors[b].row = 3 * 8;
    CHECK(graph_of(builder.network(), schedule).before == Before{{}, {}});
}

TEST_CASE("Layers that write parts of one tensor do not wait for each other",
          "[compiler][schedule][layer_graph]") {
    NetworkBuilder builder({4, 4, 4});
    const TensorId a = builder.pool(0);                                  // layer 0
    const TensorId b = builder.convolution(0, 3, {.kernel_height = 1});  // layer 1
    builder.concat({a, b});                                              // layer 2
    Schedule schedule = planned_apart(builder.network());
    REQUIRE(schedule.memory.tensors[a].part_of == TensorId{3});
    REQUIRE(schedule.memory.tensors[b].part_of == TensorId{3});
    CHECK(graph_of(builder.network(), schedule).before == Before{{}, {}, {0, 1}});
}

TEST_CASE("Readers of a slice wait for the layer that makes its parent",
          "[compiler][schedule][layer_graph]") {
    NetworkBuilder builder({4, 4, 4});
    const TensorId whole = builder.lookup(0);                   // layer 0
    const TensorId slice = builder.slice(whole, 0, {2, 4, 4});  // layer 1
    builder.lookup(slice);                                      // layer 2
    const schedule::LayerGraph graph = graph_of(builder.network(), planned_apart(builder.network()));
    CHECK(graph.before == Before{{}, {0}, {1}});
}

TEST_CASE("Joined layers are one node, that of the layer which computes them",
          "[compiler][schedule][layer_graph]") {
    NetworkBuilder builder({4, 4, 4});
    const TensorId from = builder.lookup(0);          // layer 0
    const TensorId a = builder.convolution(from, 2);  // layer 1
    const TensorId between = builder.lookup(a);       // layer 2
    const TensorId b = builder.convolution(from, 2);  // layer 3, joined to layer 1
    const TensorId last = builder.lookup(b);          // layer 4
    Schedule schedule = planned_apart(builder.network());
    REQUIRE(schedule.layers[3].joined_to == 1U);
    const schedule::LayerGraph apart = graph_of(builder.network(), schedule);
    CHECK(apart.before == Before{{}, {0}, {1}, {1}, {1}});
    CHECK(apart.step == std::vector<std::uint32_t>{1, 2, 3, 2, 5});
    SECTION("it waits for those whose rows a joined layer overwrites") {
        schedule.memory.tensors[b].row = schedule.memory.tensors[0].row;
        CHECK(graph_of(builder.network(), schedule).before == Before{{}, {0}, {1}, {1}, {1}});
        // A layer behind it, which would overwrite them before the joined layer's own place.
        schedule.memory.tensors[between].row = schedule.memory.tensors[b].row;
        CHECK(graph_of(builder.network(), schedule).before[2] == std::vector<std::uint32_t>{0, 1});
    }
    SECTION("those that overwrite the joined layer's input wait for it") {
        schedule.memory.tensors[last].row = schedule.memory.tensors[from].row;
        CHECK(graph_of(builder.network(), schedule).before[4] == std::vector<std::uint32_t>{0, 1});
    }
}

TEST_CASE("In any order that the layers' graph allows, each layer finds what it reads",
          "[compiler][schedule][layer_graph]") {
    const std::uint32_t first_seed = 2600;
    std::size_t free_choices = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const Network network = tpu_v1::lower(tests::RandomNetwork(random).draw());
        machine::MachineConfig machine = tests::small_machine();
        machine.accumulators.rows = 4096;
        machine.matrix_unit.rows = tests::between(random, 1, 40);
        Target target = tests::target_of(machine);
        target.mapping.in_place = seed % 2 == 0;
        const Schedule schedule = tests::planned(network, target, 2);
        const schedule::LayerGraph graph = graph_of(network, schedule);
        Rows rows(network, schedule);
        std::vector<std::size_t> waits_for;
        std::vector<std::uint32_t> ready;
        for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
            waits_for.push_back(graph.before[l].size());
            if (graph.before[l].empty()) ready.push_back(l);
        }
        std::size_t computed = 0;
        while (!ready.empty()) {
            free_choices += ready.size() > 1;
            std::swap(ready[random() % ready.size()], ready.back());
            const std::uint32_t layer = ready.back();
            ready.pop_back();
            CAPTURE(layer);
            CHECK(rows.compute(layer));
            ++computed;
            for (const std::uint32_t after : graph.after[layer]) {
                if (--waits_for[after] == 0) ready.push_back(after);
            }
        }
        CHECK(computed == network.layers.size());
        for (const HostPart& part : schedule.memory.outputs) CHECK(rows.holds(part.tensor));
    }
    CHECK(free_choices >= tests::random_share(100));
}

}  // namespace systole::tpu_v1
