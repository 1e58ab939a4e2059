// What an event of a tensor core takes: the published table, worked out by hand for 16 nm.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hw/machine/config_reader.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/machine_config.h"
#include "tests/support/source_dir.h"

using namespace systole;
using machine::MachineConfig;

namespace {

nlohmann::json core_file() {
    return machine::read_json_object(std::filesystem::path(tests::source_dir()) /
                                     "configs/machines/tpu_v2_1core.json");
}

}  // namespace

TEST_CASE("The events of a core of the Cloud TPU v2 have the energies of the published table in 16 nm",
          "[machine][energy]") {
    const machine::TensorEventEnergies each =
        machine::tensor_event_energies(machine::read_machine(core_file(), "test"));
    // Between 45 and 7 nm, ln(16 / 7) / ln(45 / 7) = 0.44427 of the way.
    const double addition = 0.55737;             // 0.38 * (0.9 / 0.38)^0.44427
    const double multiplication = 2.07781;       // 1.31 * (3.7 / 1.31)^0.44427
    const double half = 0.57282;                 // of half precision: 0.34 * (1.1 / 0.34)^0.44427
    const double bfloat16 = 0.21 * half / 0.34;  // the table has 7 nm alone
    CHECK(each.mac == Approx(bfloat16 + addition).epsilon(1e-4));
    CHECK(each.vector_operation == Approx(1024 * (addition + multiplication) / 2).epsilon(1e-4));
    // 64 slices of 256 KiB: three fifths of the way from 32 KiB (12.431 pJ) to 1 MiB (33.533 pJ), for 8
    // bytes.
    CHECK(each.vector_memory_byte == Approx(22.547 / 8).epsilon(1e-3));
    CHECK(each.hbm_byte == 350.0 / 8);
    CHECK(each.host_byte == 15.44);
    // An SRAM of 32 KiB, in and out.
    CHECK(each.instruction_byte == Approx(2 * 12.431 / 8).epsilon(1e-3));
}

TEST_CASE("The file of a tensor core can give each energy instead", "[machine][energy]") {
    nlohmann::json file = core_file();
    file["tensor_energy"] = {{"process_nm", 7},
                             {"host_link_pj_per_byte", 9.0},
                             {"mac_pj", 1.5},
                             {"vector_operation_pj", 2.5},
                             {"vector_memory_pj_per_byte", 3.5},
                             {"hbm_pj_per_byte", 4.5},
                             {"instruction_buffer_pj_per_byte", 5.5}};
    const MachineConfig machine = machine::read_machine(file, "test");
    CHECK(machine.process_nm() == 7.0);
    const machine::TensorEventEnergies each = machine::tensor_event_energies(machine);
    CHECK(each.mac == 1.5);
    CHECK(each.vector_operation == 1024 * 2.5);
    CHECK(each.vector_memory_byte == 3.5);
    CHECK(each.hbm_byte == 4.5);
    CHECK(each.host_byte == 9.0);
    CHECK(each.instruction_byte == 11.0);
    CHECK(machine::to_json(machine).at("tensor_energy").at("mac_pj") == 1.5);
    file["power"]["idle_watts"] = 0;
    CHECK_THROWS_WITH(machine::read_machine(file, "test"),
                      Catch::Contains("power.idle_watts is 0") &&
                          Catch::Contains("beside a section energy or tensor_energy"));
}
