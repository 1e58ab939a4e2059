# A 6 x 6 black-and-white image under two 3 x 3 kernels, on an array of 3 x 2 cells.
.array 3 2
.buffer image constant 0 36
  .int8 1 1 1 0 0 0   1 1 1 0 0 0   1 1 1 0 0 0   1 1 1 0 0 0   1 1 1 1 1 1   1 1 1 1 1 1
.buffer scales constant 36 18                    # of each column: bias 0, multiplier 1/2, shift 1
  .int32 0 0 0x40000000 0x40000000; .int8 1 1
.buffer edges output 64 32                       # 4 x 4 pixels, two channels
.tile 3 2; .int8  1  1    0  1   -1  1           # first row of the kernels: column 0 finds vertical
.tile 3 2; .int8  1  0    0  0   -1  0           # edges, column 1 horizontal ones
.tile 3 2; .int8  1 -1    0 -1   -1 -1
set window.input_height 6; set window.input_width 6; set window.channels 1
set window.kernel_height 3; set window.kernel_width 3
set window.output_height 4; set window.output_width 4
set activation.columns 2; set activation.pixel_bytes 2; set activation.outputs_per_image 16
set activation.parameters_row 12; set output.minimum -128; set output.maximum 127
read_weights tile=0 count=3
read_host image ub=0 block=36; read_host scales ub=12 block=18
sync.signal host_read sem=0; sync.wait matrix sem=0
convolve ub=0 acc=0 lines=4 repeat=2             # three tiles: a kernel row each
sync.signal matrix sem=1; sync.wait activation sem=1
activate acc=0 ub=18 rows=16 identity load
sync.signal activation sem=2; sync.wait host_write sem=2
write_host edges ub=18 block=32
halt
