// The division of a graph between a chip and its host, whatever the chip is.
#include "compiler/operators/host_segments.h"

#include <catch2/catch.hpp>

#include "tests/support/integer_graphs.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using operators::find_host_segments;
using operators::HostNodes;
using tests::IntegerGraph;

TEST_CASE("Nodes of the host are one segment unless the chip works between them", "[compiler][operators]") {
    // Two nodes, one of the chip, one behind it, and beside them one that nothing connects.
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 4}, {0.5, 3});
    const ir::ValueId first = made.append("softmax", {input}, {});
    const ir::ValueId second = made.append("softmax", {first}, {});
    const ir::ValueId chip = made.append("add", {second, first}, {});
    const ir::ValueId third = made.append("softmax", {chip}, {});
    const ir::ValueId beside = made.append("softmax", {input}, {});
    made.append("add", {third, beside}, {});
    const std::vector<bool> on_chip{false, false, true, false, false, true};
    const operators::HostPlan plan = find_host_segments(made.graph(), on_chip);
    CHECK(plan.segments == std::vector<HostNodes>{{0, 1}, {3}, {4}});
    CHECK(plan.on_chip == on_chip);
    CHECK(plan.at_end.empty());
    // A machine that computes other operators divides the graph in another way.
    CHECK(find_host_segments(made.graph(), std::vector<bool>(6, true)).segments.empty());
    CHECK(find_host_segments(made.graph(), std::vector<bool>(6, false)).segments ==
          std::vector<HostNodes>{{0, 1, 2, 3, 4, 5}});
    CHECK(find_host_segments(made.graph(), {true, true, false, true, true, false}).segments ==
          std::vector<HostNodes>{{2}, {5}});
}

TEST_CASE("A node of the host that reads the chip's work on another one's result is a segment of its own",
          "[compiler][operators]") {
    // a -> b, and a -> chip -> b: b is not with a.
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 4}, {0.5, 3});
    const ir::ValueId a = made.append("softmax", {input}, {});
    const ir::ValueId chip = made.append("add", {a, input}, {});
    const ir::ValueId joined = made.append("concat", {a, chip}, {});
    const ir::ValueId b = made.append("softmax", {joined}, {});
    made.append("add", {b, joined}, {});
    CHECK(find_host_segments(made.graph(), {false, true, true, false, true}).segments ==
          std::vector<HostNodes>{{0}, {3}});
}

TEST_CASE("A host reads the elements of a table that it looks up, and other constants whole",
          "[compiler][operators]") {
    ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %4\n%0 int32 1x3 \"indices\"\n"
        "%1 float32 5x2 \"table\" = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]\n"
        "%2 float32 2 \"offset\" = [1.0, 2.0]\n"
        "%3 float32 1x3x2 \"rows\"\n%4 float32 1x3x2 \"sum\"\n"
        "%3 = gather(%1, %0) \"rows\"\n%4 = add(%3, %2) \"sum\"\n");
    const operators::SegmentCost cost = operators::segment_cost(graph);
    // Three indices, and six elements of the table and of the result.
    CHECK(cost.bytes == 4 * (3 + 6 + 6));
    CHECK(cost.constant_bytes == 4 * 2);
}

namespace {

/// The names of segments of softmaxes in a row. An empty name stands for a node of the chip.
std::vector<std::string> names_of_segments(const std::vector<std::string>& nodes) {
    IntegerGraph made;
    ir::ValueId last = made.input({1, 1, 4}, {0.5, 3});
    std::vector<bool> on_chip;
    for (const std::string& name : nodes) {
        last = made.append("softmax", {last}, {});
        on_chip.push_back(name.empty());
    }
    made.append("add", {last, last}, {});
    on_chip.push_back(true);
    ir::Graph graph = made.graph();
    for (std::size_t i = 0; i < nodes.size(); ++i) graph.nodes[i].name = nodes[i];
    const operators::HostPlan plan = find_host_segments(graph, on_chip);
    std::vector<std::string> names;
    for (const operators::SegmentGraph& each : operators::segment_graphs(graph, plan.segments)) {
        names.push_back(each.name);
    }
    return names;
}

}  // namespace

TEST_CASE("A segment is named by the path of modules that its nodes share", "[compiler][operators]") {
    using Names = std::vector<std::string>;
    CHECK(names_of_segments({"/layer.0/self/Reshape", "/layer.0/self/Softmax", "", "/layer.1/self/Reshape",
                             "/layer.1/self/Softmax"}) == Names{"/layer.0/self", "/layer.1/self"});
    // Names without a path have no part in it.
    CHECK(names_of_segments({"/v1", "layer.0.self.scores", "v2", "layer.0.self.context"}) ==
          Names{"layer.0.self"});
    CHECK(names_of_segments({"/v1", "layer.0.norm"}) == Names{"layer.0.norm"});
    CHECK(names_of_segments({"layer.0.norm"}) == Names{"layer.0.norm"});
}

TEST_CASE("Without a path of its own, a segment has the name of its first node", "[compiler][operators]") {
    using Names = std::vector<std::string>;
    // Names of other formats, and paths that have nothing in common.
    CHECK(names_of_segments({"model/a/Softmax", "model/a/Mul"}) == Names{"model/a/Softmax"});
    CHECK(names_of_segments({"softmax", "softmax_1"}) == Names{"softmax"});
    CHECK(names_of_segments({"/a/Softmax", "/b/Softmax"}) == Names{"/a/Softmax"});
    // Two segments with one path, and a node outside that has it as its name.
    CHECK(names_of_segments({"l.self.a", "l.self.b", "", "l.self.c", "l.self.d"}) ==
          Names{"l.self.a", "l.self.c"});
    CHECK(names_of_segments({"l.self.a", "l.self.b", "", "l.self", ""}) == Names{"l.self.a", "l.self"});
}
