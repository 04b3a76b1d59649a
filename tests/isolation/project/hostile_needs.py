import nosuchpackage

Model = nosuchpackage.Model
