# The same with one word moved: the wait of the third product stands before the second.
.tile 256 256 fill 1
set activation.columns 256; set activation.pixel_bytes 256; set activation.outputs_per_image 2048
read_weights tile=0
matmul ub=0 acc=0 rows=2048;         sync.signal matrix sem=0
sync.wait activation sem=0; activate acc=0 ub=2048 rows=2048 load; sync.signal activation sem=1
sync.wait matrix sem=1; matmul ub=0 acc=2048 rows=2048 keep; sync.signal matrix sem=0
sync.wait activation sem=0; activate acc=2048 ub=4096 rows=2048
matmul ub=0 acc=0 rows=2048 keep; sync.signal matrix sem=0
sync.wait activation sem=0; activate acc=0 ub=6144 rows=2048
halt
