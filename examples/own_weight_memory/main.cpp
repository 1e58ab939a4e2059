// A chip with a weight memory of its own: one that answers a read after a given number of cycles, then the
// next.
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/system/system.h"

using namespace systole;

class SlowMemory : public sc_core::sc_module {
public:
    SlowMemory(const sc_core::sc_module_name& name, double latency)
        : sc_module(name), latency_(latency, sc_core::SC_NS) {  // a cycle is 1 ns
        socket.register_transport_dbg(this, &SlowMemory::load);
        socket.register_b_transport(this, &SlowMemory::read);
    }
    tlm_utils::simple_target_socket<SlowMemory> socket{"socket"};

private:
    /// The core writes the program's weights before the run.
    unsigned load(tlm::tlm_generic_payload& tile) {
        const std::size_t end = tile.get_address() + tile.get_data_length();
        bytes_.resize(std::max(bytes_.size(), end));
        std::copy_n(tile.get_data_ptr(), tile.get_data_length(), bytes_.data() + tile.get_address());
        return tile.get_data_length();
    }
    /// The weight FIFO reads tiles. It does not wait here: `delay` says when the last byte arrives.
    void read(tlm::tlm_generic_payload& tile, sc_core::sc_time& delay) {
        if (tile.get_data_ptr() != nullptr) {  // null in runs without values
            std::copy_n(bytes_.data() + tile.get_address(), tile.get_data_length(), tile.get_data_ptr());
        }
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        free_ = std::max(free_, now + delay) + latency_;
        delay = free_ - now;
        tile.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    const sc_core::sc_time latency_;
    sc_core::sc_time free_;
    std::vector<unsigned char> bytes_;
};

int sc_main(int argc, char* argv[]) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 4;
    const isa::Program program = isa::assemble(R"(
        .array 4 4
        .buffer in constant 0 16;          .int8 1 2 3 4  5 6 7 8  9 10 11 12  13 14 15 16
        .buffer parameters constant 16 36; .int32 4*0 4*0x40000000; .int8 4*1   # results are the sums
        .buffer out output 64 4
        .tile 4 4;                         .int8 1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1
        .tile 4 4 fill 2; .tile 4 4 fill -1; .tile 4 4 fill -2
        set activation.columns 4; set activation.pixel_bytes 4; set activation.outputs_per_image 1
        set activation.parameters_row 8; set output.minimum -128; set output.maximum 127
        read_weights tile=0 count=4
        read_host in ub=0 block=16; read_host parameters ub=8 block=36; sync.signal host_read sem=0
        sync.wait matrix sem=0; matmul ub=0 acc=0 rows=1 repeat=3; sync.signal matrix sem=1
        sync.wait activation sem=1; activate ub=20 acc=0 rows=1 load; sync.signal activation sem=2
        sync.wait host_write sem=2; write_host out ub=20 block=4
        halt)",
                                               "main.cpp");

    SlowMemory memory("memory", argc > 1 ? std::stod(argv[1]) : 100.0);
    hw::SystemOptions options;
    options.weight_memory = &memory.socket;
    hw::System system("system", machine, program, options);
    system.run();

    std::cout << "answers:";
    for (const unsigned char byte : system.host_bytes(program.buffers.back()))
        std::cout << ' ' << int{static_cast<signed char>(byte)};
    std::cout << "\n"
              << system.cycles() << " cycles, the array waited for weights in "
              << system.counter("matrix_unit.weight_stall_cycles").value() << " of them\n";
    return 0;
}
