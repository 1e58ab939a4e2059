// Sums over the parts of a batch, of which each core of a machine has one.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/word_operations.h"

namespace systole::operators {
namespace {

class AllReduce final : public Operator {
public:
    std::string_view name() const override { return "all_reduce"; }
    std::string_view summary() const override {
        return "Sums over the parts of a batch, of which each core of a machine has one. Parts have equally "
               "many images: image i of each part becomes the sum of the images i of all parts, element by "
               "element in float32. The parts are added in their order; each sum is rounded once and "
               "settled. Each input has a result of its own. All batches must be full.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "parts",
             .meaning = "parts of the batch",
             .absent = std::int64_t{1},
             .is_required = true,
             .minimum = 1,
             .maximum = std::numeric_limits<std::uint32_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::GraphJson,
                 .name = "all_reduce",
                 .keys = {{"parts", "`parts`"}},
                 .build = [](ir::LayerReader& layer) {
                     return layer.append("all_reduce", {{"parts", std::int64_t{layer.positive("parts")}}},
                                         {layer.input()});
                 }}};
    }
    bool mixes_images(const ir::Node& /*node*/) const override { return true; }
    LeadingOnes leading_ones(const ir::NodeView& node) const override {
        return node.node().inputs.size() == 1 ? LeadingOnes::Passed : LeadingOnes::Counted;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.empty()) throw ModelError("it must have an input");
        std::vector<ir::Shape> shapes;
        for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
            if (!node.input(i).has_batch()) {
                throw ModelError(fmt::format(
                    "input {} is the same for all images; a sum over cores needs one of each image",
                    node.input(i).name));
            }
            shapes.push_back(node.input(i).shape);
        }
        return shapes;
    }
    Placement placement() const override {
        return {.where = "links between tensor cores", .formats = "float32"};
    }
    std::uint64_t operations(const ir::NodeView& node) const override {
        std::uint64_t elements = 0;
        for (std::size_t i = 0; i < node.node().inputs.size(); ++i)
            elements += node.input(i).shape.elements();
        return elements;
    }

    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override {
        const auto parts = static_cast<std::uint32_t>(call.node.node().integer("parts"));
        if (call.batch % parts != 0) {
            throw ModelError(fmt::format("it sums {} parts of a batch of {}, which must be a multiple", parts,
                                         call.batch));
        }
        for (std::size_t i = 0; i < call.node.node().inputs.size(); ++i) sum(call, i, parts);
    }

private:
    static void sum(const TensorCall& call, std::size_t index, std::uint32_t parts) {
        const std::size_t count = call.input_elements(index) / parts;  // of a part
        const auto* const numbers = call.input<std::uint32_t>(index);
        std::vector<const std::uint32_t*> given;
        for (std::uint32_t part = 0; part < parts; ++part) given.push_back(numbers + part * count);
        std::vector<std::uint32_t> sums(count);
        math::add_settled(given, sums);
        for (std::uint32_t part = 0; part < parts; ++part)
            std::ranges::copy(sums, call.output<std::uint32_t>(index) + part * count);
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_all_reduce() {
    return std::make_unique<AllReduce>();
}

}  // namespace systole::operators
