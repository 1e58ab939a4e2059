# How long do prefetched tiles last? Two long products let the FIFO fill, then short ones drain it.
.tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1
.tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1
.tile 256 256 fill 1; .tile 256 256 fill 1
read_weights tile=0 count=10
matmul ub=0 acc=0 rows=4096
matmul ub=0 acc=0 rows=4096 keep
matmul ub=0 acc=0 rows=8 repeat=8
halt
