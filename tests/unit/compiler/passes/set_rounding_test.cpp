#include "compiler/passes/set_rounding.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/rounding.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"

using namespace systole;

namespace {

/// A graph of a convolution with these attributes, of the given type, and the pair of its result with itself.
std::string graph_text(const std::string& type, const std::string& attributes, const std::string& pair) {
    return "graph \"g\"\ninputs %0\noutputs %5\n"
           "%0 " +
           type +
           " 1x1x2x1 \"in\" scale 0.5 zero 0\n"
           "%1 " +
           type +
           " 1x1x2x2 \"c\" scale 1.0 zero 0\n"
           "%2 int8 1x1x1x2 \"w\" axis 3 scales [0.25, 0.5] zeros [0, 0] = [-4, 4]\n"
           "%3 " +
           type +
           " 1x1x2x2 \"s\" scale 2.0 zero 0\n"
           "%4 float32 1x1x2x2 \"d\"\n"
           "%5 float32 1x1x2x2 \"r\"\n"
           "%1 = convolution(%0, %2) \"c\"" +
           attributes +
           "\n"
           "%3 = add(%1, %1) \"s\"" +
           pair +
           "\n"
           "%4 = dequantize(%3) \"d\"\n"
           "%5 = add(%4, %4) \"r\"\n";
}

std::string after(Rounding rounding, const std::string& text) {
    return ir::to_text(passes::set_rounding(ir::parse_graph(text, "test", operators::registry()), rounding));
}

}  // namespace

TEST_CASE("set_rounding gives all nodes on integers the machine's rounding", "[compiler][passes]") {
    const std::string in_float =
        graph_text("uint8", " {rounding \"float_half_even\"}", " {rounding \"float_half_even\"}");
    const std::string once =
        graph_text("uint8", " {rounding \"half_to_even\"}", " {rounding \"half_to_even\"}");
    const std::string plain = graph_text("uint8", "", "");
    // Whatever the file says.
    for (const std::string& text : {plain, once, in_float}) {
        CHECK(after(Rounding::FloatHalfEven, text) == in_float);
        CHECK(after(Rounding::HalfToEven, text) == once);
        CHECK(after(Rounding::Tflite, text) == plain);
    }
}

TEST_CASE("set_rounding clears the real multiplier that a multiplier of float32 replaces",
          "[compiler][passes]") {
    CHECK(after(Rounding::FloatHalfEven, graph_text("int8", " {clamp [0, 9], real_multiplier 1}", "")) ==
          graph_text("int8", " {clamp [0, 9], rounding \"float_half_even\"}",
                     " {rounding \"float_half_even\"}"));
    CHECK(after(Rounding::HalfToEven, graph_text("int8", " {real_multiplier 1}", "")) ==
          graph_text("int8", " {rounding \"half_to_even\", real_multiplier 1}",
                     " {rounding \"half_to_even\"}"));
}

TEST_CASE("set_rounding leaves nodes that cannot round so, and integers without scales",
          "[compiler][passes]") {
    for (const std::string attributes :
         {"", " {wide_sums 1}", " {real_multiplier 1}", " {rounding \"half_to_even\"}"}) {
        const std::string wide = graph_text("int16", attributes, "");
        CHECK(after(Rounding::FloatHalfEven, wide) == wide);
    }
    const std::string wide_sums = graph_text("int16", " {wide_sums 1}", "");
    CHECK(after(Rounding::HalfToEven, wide_sums) ==
          graph_text("int16", " {wide_sums 1}", " {rounding \"half_to_even\"}"));
    const std::string counts =
        "graph \"g\"\ninputs %0\noutputs %1\n%0 int32 1x2 \"in\"\n%1 int32 1x2 \"s\"\n"
        "%1 = add(%0, %0) \"s\"\n";
    CHECK(after(Rounding::FloatHalfEven, counts) == counts);
}
