public import Storage
