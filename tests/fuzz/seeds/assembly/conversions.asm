.array 4 3
.input x shape=4 scale=0.5 signed conversion=half_to_even
.input y shape=4 scale=0.5 zero_point=7 conversion=half_away
.output z shape=4
.buffer x input 0 4
.buffer y input 64 4
.buffer z output 128 4
.accumulators 0 1
  .int32 1 -3 5
.unified_buffer 1 4
  .uint8 1 2 3 4
set activation.columns 3; set activation.pixel_bytes 3; set activation.outputs_per_image 1
activate acc=0 ub=8 rows=1 load even
activate acc=0 ub=9 rows=1 load real even
vector multiply dst=10 src=8 other=9 rows=1 even
vector add dst=11 src=8 other=9 rows=1 signed even
halt
