#include <catch2/catch.hpp>
#include <set>

#include "hw/isa/queue.h"
#include "hw/isa/registers.h"

using namespace systole::isa;

TEST_CASE("A unit is found by its name", "[isa]") {
    CHECK(name(QueueId::HostRead) == "host_read");
    CHECK(name(QueueId::HostWrite) == "host_write");
    CHECK(name(QueueId::Weights) == "weights");
    CHECK(name(QueueId::Matrix) == "matrix");
    CHECK(name(QueueId::Activation) == "activation");
    CHECK(name(QueueId::Host) == "host");
    CHECK(name(QueueId::Ring) == "ring");
    CHECK(name(QueueId::Mesh) == "mesh");
    CHECK(name(QueueId::Tiles) == "tiles");
    CHECK(name(QueueId::WeightWrite) == "weight_write");
    for (std::size_t i = 0; i < queue_count; ++i) {
        CHECK(find_queue(name(static_cast<QueueId>(i))) == static_cast<QueueId>(i));
    }
    CHECK_FALSE(find_queue("matri"));
    CHECK_FALSE(find_queue(""));
}

TEST_CASE("Every register has a name of its own, by which it is found", "[isa]") {
    CHECK(name(Register::WindowInputHeight) == "window.input_height");
    CHECK(name(Register::WindowTile) == "window.tile");
    CHECK(name(Register::MultiplyRowStride) == "multiply.row_stride");
    CHECK(name(Register::ActivationOutputsPerImage) == "activation.outputs_per_image");
    CHECK(name(Register::OutputMinimum) == "output.minimum");
    CHECK(name(Register::VectorMultiplierA) == "vector.multiplier_a");
    CHECK(name(Register::VectorShift) == "vector.shift");
    CHECK(name(Register::BlockOutputHeight) == "block.output_height");
    CHECK(name(Register::SourceLines) == "source.lines");
    CHECK(name(Register::OtherPixelBytes) == "other.pixel_bytes");
    CHECK(name(Register::ResultRight) == "result.right");
    CHECK(name(Register::WindowDilationX) == "window.dilation_x");
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < register_count; ++i) {
        const auto reg = static_cast<Register>(i);
        CHECK(find_register(name(reg)) == reg);
        names.insert(name(reg));
    }
    CHECK(names.size() == register_count);
    CHECK_FALSE(find_register("window"));
}

TEST_CASE("Registers begin with their initial values and keep what is written", "[isa]") {
    const std::set<Register> ones = {
        Register::WindowImageRows,     Register::WindowKernelHeight, Register::WindowKernelWidth,
        Register::WindowStrideY,       Register::WindowStrideX,      Register::MultiplyRowStride,
        Register::ActivationImageRows, Register::BlockWidth,         Register::BlockHeight,
        Register::WindowDilationY,     Register::WindowDilationX,    Register::WalkLines,
        Register::FromColumnRows,      Register::ToColumnRows};
    Registers registers;
    for (std::size_t i = 0; i < register_count; ++i) {
        const auto reg = static_cast<Register>(i);
        const std::uint32_t expected =
            reg == Register::OutputMaximum ? 255 : (ones.count(reg) == 1 ? 1U : 0U);
        CHECK(initial_value(reg) == expected);
        CHECK(registers[reg] == expected);
    }
    registers.set(Register::OutputZeroPoint, 0xffffff80);
    CHECK(registers.as_signed(Register::OutputZeroPoint) == -128);
    CHECK(registers[Register::OutputMinimum] == 0);
    CHECK(registers != Registers());
}
